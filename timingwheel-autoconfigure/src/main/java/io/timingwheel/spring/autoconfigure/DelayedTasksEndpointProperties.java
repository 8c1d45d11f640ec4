package io.timingwheel.spring.autoconfigure;

import java.util.HashSet;
import java.util.Set;

import org.springframework.boot.actuate.endpoint.Show;
import org.springframework.boot.context.properties.ConfigurationProperties;

/**
 * Properties of the endpoint {@code delayedtasks}.
 */
@ConfigurationProperties("management.endpoint.delayedtasks")
class DelayedTasksEndpointProperties {

	/**
	 * When to show keys and the texts of errors. Otherwise the endpoint shows six
	 * asterisks, and the tasks are addressed by their ids.
	 */
	private Show showValues = Show.ALWAYS;

	/**
	 * Roles that permit a user to see keys and the texts of errors when they are shown to
	 * authorized users only. When empty, all users that are logged in are authorized.
	 */
	private final Set<String> roles = new HashSet<>();

	public Show getShowValues() {
		return this.showValues;
	}

	public void setShowValues(Show showValues) {
		this.showValues = showValues;
	}

	public Set<String> getRoles() {
		return this.roles;
	}

}

package io.timingwheel.spring.autoconfigure;

import java.util.Set;

import org.springframework.boot.actuate.endpoint.Show;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Properties of the endpoint {@code delayedtasks}.
 *
 * @param showValues When to show the texts of errors, which may hold personal data.
 * Otherwise the endpoint shows six asterisks.
 * @param roles Roles that permit a user to see the texts of errors when they are shown to
 * authorized users only. When empty, all users that are logged in are authorized.
 */
@ConfigurationProperties("management.endpoint.delayedtasks")
record DelayedTasksEndpointProperties(@DefaultValue("never") Show showValues, @DefaultValue Set<String> roles) {

}

package io.timingwheel.sample.callbacks;

import java.net.URI;
import java.time.Duration;
import java.util.Locale;
import java.util.Set;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The settings of callbacks.
 *
 * @param allowedHosts the hosts that callbacks may go to
 * @param timeout how long one request may take
 */
@ConfigurationProperties("callbacks")
record CallbackProperties(@DefaultValue("localhost") Set<String> allowedHosts, @DefaultValue("5s") Duration timeout) {

	CallbackProperties {
		if (timeout.isNegative() || timeout.isZero()) {
			throw new IllegalArgumentException("callbacks.timeout must be positive, but is " + timeout);
		}
	}

	/**
	 * Whether callbacks may go to this host. Without a list a client could reach hosts
	 * that only this application can reach.
	 */
	boolean allows(URI url) {
		return url.getHost() != null && this.allowedHosts.contains(url.getHost().toLowerCase(Locale.ROOT));
	}

}

package io.timingwheel.spring.autoconfigure;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.UUID;

import io.timingwheel.spring.autoconfigure.TimingWheelProperties.Store;
import io.timingwheel.spring.durable.support.Backoff;
import io.timingwheel.spring.durable.support.DurableSettings;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.util.StringUtils;

/**
 * Checks the {@code timingwheel.store.*} properties of a node: errors name the property.
 */
final class StoreSettings {

	private static final int MAX_NODE_ID = 64;

	private static final Duration MIN_LEASE = Duration.ofSeconds(1);

	private final Store store;

	StoreSettings(Store store) {
		this.store = store;
	}

	/**
	 * The settings of a node.
	 * @throws InvalidConfigurationPropertyValueException if one of them makes no sense
	 */
	DurableSettings get() {
		Store store = this.store;
		if (store.getLease().compareTo(MIN_LEASE) < 0) {
			throw invalid("lease", store.getLease(), "it must be at least 1s: a third of it passes between renewals");
		}
		positive("poll-interval", store.getPollInterval());
		if (store.getLookAhead().isNegative()) {
			throw invalid("look-ahead", store.getLookAhead(), "it must not be negative");
		}
		positive("batch-size", store.getBatchSize());
		positive("max-in-flight", store.getMaxInFlight());
		positive("max-attempts", store.getMaxAttempts());
		positive("max-lost-deliveries", store.getMaxLostDeliveries());
		if (store.getMaxPayloadSize().toBytes() < 1) {
			throw invalid("max-payload-size", store.getMaxPayloadSize(), "it must be positive, such as 64KB");
		}
		return new DurableSettings(nodeId(store.getNodeId()), store.getLease(), store.getLookAhead(),
				store.getPollInterval(), store.getBatchSize(), store.getMaxInFlight(), store.getMaxAttempts(),
				store.getMaxLostDeliveries(), backoff(store.getBackoff()), store.getMaxPayloadSize().toBytes());
	}

	private static Backoff backoff(Store.Backoff backoff) {
		if (backoff.getInitial().isNegative()) {
			throw invalid("backoff.initial", backoff.getInitial(), "it must not be negative");
		}
		if (!(backoff.getMultiplier() >= 1) || Double.isInfinite(backoff.getMultiplier())) {
			throw invalid("backoff.multiplier", backoff.getMultiplier(), "it must be at least 1");
		}
		if (backoff.getMax().compareTo(backoff.getInitial()) < 0) {
			throw invalid("backoff.max", backoff.getMax(), "it must not be shorter than backoff.initial");
		}
		if (!(backoff.getJitter() >= 0 && backoff.getJitter() <= 1)) {
			throw invalid("backoff.jitter", backoff.getJitter(), "it must be from 0 to 1");
		}
		return new Backoff(backoff.getInitial(), backoff.getMultiplier(), backoff.getMax(), backoff.getJitter());
	}

	private static String nodeId(@Nullable String nodeId) {
		if (!StringUtils.hasText(nodeId)) {
			return generatedNodeId();
		}
		if (nodeId.length() > MAX_NODE_ID || !nodeId.chars().allMatch((c) -> c > ' ' && c < 127)) {
			throw invalid("node-id", nodeId, "it must have at most 64 printable ASCII characters and no spaces");
		}
		return nodeId;
	}

	private static String generatedNodeId() {
		String random = UUID.randomUUID().toString().substring(0, 8);
		String host = hostName().replaceAll("[^A-Za-z0-9._-]", "-");
		int room = MAX_NODE_ID - random.length() - 1;
		return ((host.length() > room) ? host.substring(0, room) : host) + "-" + random;
	}

	private static String hostName() {
		try {
			return InetAddress.getLocalHost().getHostName();
		}
		catch (UnknownHostException ex) {
			return "node";
		}
	}

	private static void positive(String name, Duration value) {
		if (value.isNegative() || value.toMillis() == 0) {
			throw invalid(name, value, "it must be at least 1ms");
		}
	}

	private static void positive(String name, int value) {
		if (value < 1) {
			throw invalid(name, value, "it must be at least 1");
		}
	}

	private static InvalidConfigurationPropertyValueException invalid(String name, Object value, String reason) {
		return new InvalidConfigurationPropertyValueException("timingwheel.store." + name, value, reason);
	}

}

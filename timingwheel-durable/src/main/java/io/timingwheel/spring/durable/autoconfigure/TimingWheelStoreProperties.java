package io.timingwheel.spring.durable.autoconfigure;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.UUID;

import io.timingwheel.spring.autoconfigure.internal.PropertyChecks;
import io.timingwheel.spring.durable.node.DurableNode.Settings;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.InitializingBean;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.Assert;
import org.springframework.util.StringUtils;
import org.springframework.util.unit.DataSize;

/**
 * The {@code timingwheel.store.*} properties, which are the same for all stores.
 *
 * @param nodeId Unique name of this node. Generated from the host name by default.
 * @param claimTasks Whether this node claims and runs durable tasks. Otherwise the node
 * only stores them. The endpoint changes this at run time.
 * @param lease How long a task belongs to the node that runs the task. Renewed while the
 * task runs. When the lease of a node that has died ends, another node runs the task.
 * @param lookAhead How long before its due time a task is claimed and put on the wheel.
 * @param pollInterval How often to look for tasks when no task is known to be due.
 * @param batchSize Number of tasks that one request claims at most while there is no
 * backlog. With a backlog, requests grow to eight times this number, but to no more than
 * half of max-in-flight.
 * @param maxInFlight Maximum number of tasks that this node has claimed, waiting and
 * running.
 * @param maxAttempts Number of failures after which a task is dead. With the default
 * backoff 16 failures take about an hour.
 * @param maxLostDeliveries Number of lost runs after which a task is dead. A run counts
 * if it was lost with its node while the node tried the task alone.
 * @param backoff how long a failed task waits for the next attempt
 * @param maxPayloadSize Maximum size of the arguments of a task as JSON.
 * @param dead what happens to the tasks that are dead
 * @since 0.1
 */
@ConfigurationProperties("timingwheel.store")
public record TimingWheelStoreProperties(@Nullable String nodeId, @DefaultValue("true") boolean claimTasks,
		@DefaultValue("30s") Duration lease, @DefaultValue("2s") Duration lookAhead,
		@DefaultValue("1s") Duration pollInterval, @DefaultValue("100") int batchSize,
		@DefaultValue("1000") int maxInFlight, @DefaultValue("16") int maxAttempts,
		@DefaultValue("5") int maxLostDeliveries, @DefaultValue Backoff backoff,
		@DefaultValue("64KB") DataSize maxPayloadSize, @DefaultValue Dead dead) implements InitializingBean {

	private static final int MAX_NODE_ID = 64;

	private static final Duration MIN_LEASE = Duration.ofSeconds(1);

	@Override
	public void afterPropertiesSet() {
		check(this.lease.compareTo(MIN_LEASE) >= 0, "lease", this.lease,
				"it must be at least 1s: leases are renewed after a third of this time");
		check(this.pollInterval.toMillis() >= 1, "poll-interval", this.pollInterval, "it must be at least 1ms");
		check(!this.lookAhead.isNegative(), "look-ahead", this.lookAhead, "it must not be negative");
		check(this.batchSize >= 1, "batch-size", this.batchSize, "it must be at least 1");
		check(this.maxInFlight >= 1, "max-in-flight", this.maxInFlight, "it must be at least 1");
		check(this.maxAttempts >= 1, "max-attempts", this.maxAttempts, "it must be at least 1");
		check(this.maxLostDeliveries >= 1, "max-lost-deliveries", this.maxLostDeliveries, "it must be at least 1");
		check(this.maxPayloadSize.toBytes() >= 1, "max-payload-size", this.maxPayloadSize,
				"it must be positive, such as 64KB");
		PropertyChecks.pass("timingwheel.store.dead.retention", this.dead.retention,
				(value) -> Assert.isTrue(value.toMillis() >= 1, "it must be at least 1ms"));
		if (StringUtils.hasText(this.nodeId)) {
			boolean printable = this.nodeId.chars().allMatch((c) -> c > ' ' && c < 127);
			check(printable && this.nodeId.length() <= MAX_NODE_ID, "node-id", this.nodeId,
					"it must have at most 64 printable ASCII characters and no spaces");
		}
	}

	Settings settings() {
		return new Settings(StringUtils.hasText(this.nodeId) ? this.nodeId : generatedId(), this.lease, this.lookAhead,
				this.pollInterval, this.batchSize, this.maxInFlight, this.maxAttempts, this.maxLostDeliveries,
				PropertyChecks.backoff("timingwheel.store.backoff", this.backoff.initial, this.backoff.multiplier,
						this.backoff.max, this.backoff.jitter),
				this.maxPayloadSize.toBytes(), this.dead.retention);
	}

	/** The name of the host and eight random digits, at most 64 characters. */
	private static String generatedId() {
		// A JVM is named 123@host.
		String host = ManagementFactory.getRuntimeMXBean()
			.getName()
			.replaceFirst(".*@", "")
			.replaceAll("[^A-Za-z0-9._-]", "-");
		return "%.55s-%.8s".formatted(host, UUID.randomUUID());
	}

	private static void check(boolean valid, String name, Object value, String reason) {
		PropertyChecks.check(valid, "timingwheel.store." + name, value, reason);
	}

	/**
	 * What happens to the tasks that are dead.
	 *
	 * @param retention How long dead tasks are kept. For ever by default.
	 */
	public record Dead(@Nullable Duration retention) {

	}

	/**
	 * How long a failed task waits for the next attempt.
	 *
	 * @param initial Delay after the first failure.
	 * @param multiplier Factor from one delay to the next.
	 * @param max The longest delay.
	 * @param jitter Maximum random variation of a delay, as a part of the delay, from 0
	 * to 1.
	 */
	public record Backoff(@DefaultValue("1s") Duration initial, @DefaultValue("2") double multiplier,
			@DefaultValue("10m") Duration max, @DefaultValue("0.2") double jitter) {

	}

}

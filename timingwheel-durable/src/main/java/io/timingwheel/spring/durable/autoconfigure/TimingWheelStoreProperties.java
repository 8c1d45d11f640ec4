package io.timingwheel.spring.durable.autoconfigure;

import java.time.Duration;

import io.timingwheel.spring.autoconfigure.internal.PropertyChecks;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.InitializingBean;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.util.StringUtils;
import org.springframework.util.unit.DataSize;

/**
 * The {@code timingwheel.store.*} properties, which are the same for all stores.
 *
 * @since 0.1
 */
@ConfigurationProperties("timingwheel.store")
public class TimingWheelStoreProperties implements InitializingBean {

	private static final int MAX_NODE_ID = 64;

	private static final Duration MIN_LEASE = Duration.ofSeconds(1);

	/**
	 * Name of this node in its leases. Generated from the host name by default.
	 */
	private @Nullable String nodeId;

	/**
	 * Whether this node claims and runs durable tasks. A node that does not only stores
	 * them. The endpoint changes this at run time.
	 */
	private boolean claimTasks = true;

	/**
	 * How long a task belongs to the node that runs the task. Renewed while the task
	 * runs. When the lease of a node that has died ends, another node runs the task.
	 */
	private Duration lease = Duration.ofSeconds(30);

	/**
	 * How long before its due time a task is claimed and put on the wheel.
	 */
	private Duration lookAhead = Duration.ofSeconds(2);

	/**
	 * How often to look for tasks when no task is known to be due.
	 */
	private Duration pollInterval = Duration.ofSeconds(1);

	/**
	 * Number of tasks that one request claims at most while there is no backlog. With a
	 * backlog, requests grow to eight times this number, but to no more than half of
	 * max-in-flight.
	 */
	private int batchSize = 100;

	/**
	 * Maximum number of tasks that this node has claimed, waiting and running.
	 */
	private int maxInFlight = 1000;

	/**
	 * Number of failures after which a task is dead. With the default backoff 16 failures
	 * take more than an hour.
	 */
	private int maxAttempts = 16;

	/**
	 * Number of lost runs after which a task is dead. A run counts if it was lost with
	 * its node while the node tried the task alone.
	 */
	private int maxLostDeliveries = 5;

	private final Backoff backoff = new Backoff();

	/**
	 * Maximum size of the arguments of a task as JSON.
	 */
	private DataSize maxPayloadSize = DataSize.ofKilobytes(64);

	private final Dead dead = new Dead();

	public @Nullable String getNodeId() {
		return this.nodeId;
	}

	public void setNodeId(@Nullable String nodeId) {
		this.nodeId = nodeId;
	}

	public boolean isClaimTasks() {
		return this.claimTasks;
	}

	public void setClaimTasks(boolean claimTasks) {
		this.claimTasks = claimTasks;
	}

	public Duration getLease() {
		return this.lease;
	}

	public void setLease(Duration lease) {
		this.lease = lease;
	}

	public Duration getLookAhead() {
		return this.lookAhead;
	}

	public void setLookAhead(Duration lookAhead) {
		this.lookAhead = lookAhead;
	}

	public Duration getPollInterval() {
		return this.pollInterval;
	}

	public void setPollInterval(Duration pollInterval) {
		this.pollInterval = pollInterval;
	}

	public int getBatchSize() {
		return this.batchSize;
	}

	public void setBatchSize(int batchSize) {
		this.batchSize = batchSize;
	}

	public int getMaxInFlight() {
		return this.maxInFlight;
	}

	public void setMaxInFlight(int maxInFlight) {
		this.maxInFlight = maxInFlight;
	}

	public int getMaxAttempts() {
		return this.maxAttempts;
	}

	public void setMaxAttempts(int maxAttempts) {
		this.maxAttempts = maxAttempts;
	}

	public int getMaxLostDeliveries() {
		return this.maxLostDeliveries;
	}

	public void setMaxLostDeliveries(int maxLostDeliveries) {
		this.maxLostDeliveries = maxLostDeliveries;
	}

	public Backoff getBackoff() {
		return this.backoff;
	}

	public DataSize getMaxPayloadSize() {
		return this.maxPayloadSize;
	}

	public void setMaxPayloadSize(DataSize maxPayloadSize) {
		this.maxPayloadSize = maxPayloadSize;
	}

	public Dead getDead() {
		return this.dead;
	}

	/**
	 * Checks the values.
	 * @throws InvalidConfigurationPropertyValueException if a value is not valid
	 */
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
		check(!this.backoff.initial.isNegative(), "backoff.initial", this.backoff.initial, "it must not be negative");
		check(this.backoff.multiplier >= 1 && Double.isFinite(this.backoff.multiplier), "backoff.multiplier",
				this.backoff.multiplier, "it must be at least 1");
		check(this.backoff.max.compareTo(this.backoff.initial) >= 0, "backoff.max", this.backoff.max,
				"it must not be shorter than backoff.initial");
		check(this.backoff.jitter >= 0 && this.backoff.jitter <= 1, "backoff.jitter", this.backoff.jitter,
				"it must be from 0 to 1");
		Duration retention = this.dead.retention;
		if (retention != null) {
			check(retention.toMillis() >= 1, "dead.retention", retention, "it must be at least 1ms");
		}
		if (StringUtils.hasText(this.nodeId)) {
			boolean printable = this.nodeId.chars().allMatch((c) -> c > ' ' && c < 127);
			check(printable && this.nodeId.length() <= MAX_NODE_ID, "node-id", this.nodeId,
					"it must have at most 64 printable ASCII characters and no spaces");
		}
	}

	private static void check(boolean valid, String name, Object value, String reason) {
		PropertyChecks.check(valid, "timingwheel.store." + name, value, reason);
	}

	/**
	 * What happens to the tasks that are dead.
	 */
	public static class Dead {

		/**
		 * How long dead tasks are kept. For ever by default.
		 */
		private @Nullable Duration retention;

		public @Nullable Duration getRetention() {
			return this.retention;
		}

		public void setRetention(@Nullable Duration retention) {
			this.retention = retention;
		}

	}

	/**
	 * How long a failed task waits for the next attempt.
	 */
	public static class Backoff {

		/**
		 * Delay after the first failure.
		 */
		private Duration initial = Duration.ofSeconds(1);

		/**
		 * Factor from one delay to the next.
		 */
		private double multiplier = 2;

		/**
		 * The longest delay.
		 */
		private Duration max = Duration.ofMinutes(10);

		/**
		 * Maximum random variation of a delay, as a part of the delay, from 0 to 1.
		 */
		private double jitter = 0.2;

		public Duration getInitial() {
			return this.initial;
		}

		public void setInitial(Duration initial) {
			this.initial = initial;
		}

		public double getMultiplier() {
			return this.multiplier;
		}

		public void setMultiplier(double multiplier) {
			this.multiplier = multiplier;
		}

		public Duration getMax() {
			return this.max;
		}

		public void setMax(Duration max) {
			this.max = max;
		}

		public double getJitter() {
			return this.jitter;
		}

		public void setJitter(double jitter) {
			this.jitter = jitter;
		}

	}

}

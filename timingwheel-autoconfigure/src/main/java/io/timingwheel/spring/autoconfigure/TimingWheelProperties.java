package io.timingwheel.spring.autoconfigure;

import java.time.Duration;

import io.timingwheel.spring.autoconfigure.internal.PropertyChecks;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.InitializingBean;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;

/**
 * The {@code timingwheel.*} properties, without those of the store.
 *
 * @since 0.1
 */
@ConfigurationProperties("timingwheel")
public class TimingWheelProperties implements InitializingBean {

	/**
	 * Resolution of the wheel, at most one day. A timer fires up to one tick after its
	 * deadline.
	 */
	private Duration tick = Duration.ofMillis(1);

	/**
	 * Number of slots per level, a power of two from 2 to 65536.
	 */
	private int wheelSize = 256;

	/**
	 * Number of shards, a power of two from 1 to 1024. Derived from the number of
	 * processors by default.
	 */
	private @Nullable Integer shards;

	/**
	 * Maximum number of timers that may be pending in memory. Further calls are rejected.
	 * No limit by default.
	 */
	private @Nullable Long maxPending;

	private final Shutdown shutdown = new Shutdown();

	private final Health health = new Health();

	private final Metrics metrics = new Metrics();

	public Duration getTick() {
		return this.tick;
	}

	public void setTick(Duration tick) {
		this.tick = tick;
	}

	public int getWheelSize() {
		return this.wheelSize;
	}

	public void setWheelSize(int wheelSize) {
		this.wheelSize = wheelSize;
	}

	public @Nullable Integer getShards() {
		return this.shards;
	}

	public void setShards(@Nullable Integer shards) {
		this.shards = shards;
	}

	public @Nullable Long getMaxPending() {
		return this.maxPending;
	}

	public void setMaxPending(@Nullable Long maxPending) {
		this.maxPending = maxPending;
	}

	public Shutdown getShutdown() {
		return this.shutdown;
	}

	public Health getHealth() {
		return this.health;
	}

	public Metrics getMetrics() {
		return this.metrics;
	}

	/**
	 * Checks the values that the builder of the wheel does not check.
	 * @throws InvalidConfigurationPropertyValueException if a value is not valid
	 */
	@Override
	public void afterPropertiesSet() {
		Duration period = this.shutdown.getAwaitTerminationPeriod();
		PropertyChecks.check(!period.isNegative(), "timingwheel.shutdown.await-termination-period", period,
				"it must not be negative: use 0s for no wait");
		Duration maxLag = this.health.getMaxLag();
		PropertyChecks.check(!maxLag.isNegative() && !maxLag.isZero(), "timingwheel.health.max-lag", maxLag,
				"it must be positive, such as 1s");
		PropertyChecks.check(this.metrics.getMaxNames() >= 1, "timingwheel.metrics.max-names",
				this.metrics.getMaxNames(), "it must be at least 1");
	}

	/**
	 * What happens when the application context closes.
	 */
	public static class Shutdown {

		/**
		 * What to do with tasks that are pending in memory: cancel all of them, or run
		 * those that are due within the await-termination period.
		 */
		private Pending pending = Pending.CANCEL;

		/**
		 * How long to wait for running tasks and, with "run", for tasks that are due in
		 * this time.
		 */
		private Duration awaitTerminationPeriod = Duration.ofSeconds(30);

		public Pending getPending() {
			return this.pending;
		}

		public void setPending(Pending pending) {
			this.pending = pending;
		}

		public Duration getAwaitTerminationPeriod() {
			return this.awaitTerminationPeriod;
		}

		public void setAwaitTerminationPeriod(Duration awaitTerminationPeriod) {
			this.awaitTerminationPeriod = awaitTerminationPeriod;
		}

		/**
		 * What to do with pending tasks.
		 */
		public enum Pending {

			/**
			 * Cancel all pending tasks.
			 */
			CANCEL,

			/**
			 * Run the tasks that are due within the await-termination period, and cancel
			 * the others. No task runs before it is due.
			 */
			RUN

		}

	}

	/**
	 * Settings of the health indicator.
	 */
	public static class Health {

		/**
		 * Lag at which the wheel counts as down.
		 */
		private Duration maxLag = Duration.ofSeconds(1);

		public Duration getMaxLag() {
			return this.maxLag;
		}

		public void setMaxLag(Duration maxLag) {
			this.maxLag = maxLag;
		}

	}

	/**
	 * Settings of the meters and observations.
	 */
	public static class Metrics {

		/**
		 * Maximum number of task names that become values of a tag. All further names
		 * share the value "other", which counts as one of these names.
		 */
		private int maxNames = 100;

		public int getMaxNames() {
			return this.maxNames;
		}

		public void setMaxNames(int maxNames) {
			this.maxNames = maxNames;
		}

	}

}

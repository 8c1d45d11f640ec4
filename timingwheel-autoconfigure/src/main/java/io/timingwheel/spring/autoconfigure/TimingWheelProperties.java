package io.timingwheel.spring.autoconfigure;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.core.Ordered;

/**
 * The {@code timingwheel.*} properties.
 */
@ConfigurationProperties("timingwheel")
public class TimingWheelProperties {

	/**
	 * Whether to set up the wheel, the template and the annotations. Without them,
	 * annotated methods run at once when called.
	 */
	private boolean enabled = true;

	/**
	 * Resolution of the wheel: how late a task may fire at most. Up to one day.
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
	 * How many timers may be pending in memory. Beyond it, calls are rejected. No limit
	 * by default.
	 */
	private @Nullable Long maxPending;

	private final Shutdown shutdown = new Shutdown();

	private final TaskScheduler taskScheduler = new TaskScheduler();

	private final Timeout timeout = new Timeout();

	private final Observations observations = new Observations();

	private final Health health = new Health();

	public boolean isEnabled() {
		return this.enabled;
	}

	public void setEnabled(boolean enabled) {
		this.enabled = enabled;
	}

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

	public TaskScheduler getTaskScheduler() {
		return this.taskScheduler;
	}

	public Timeout getTimeout() {
		return this.timeout;
	}

	public Observations getObservations() {
		return this.observations;
	}

	public Health getHealth() {
		return this.health;
	}

	/**
	 * What happens when the application context closes.
	 */
	public static class Shutdown {

		/**
		 * What to do with tasks that are pending in memory: cancel them, or run those
		 * that fall due within the await-termination period.
		 */
		private Pending pending = Pending.CANCEL;

		/**
		 * How long to wait for tasks that are running, and with "run" for those that fall
		 * due.
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
			 * Cancel all.
			 */
			CANCEL,

			/**
			 * Run what falls due within the await-termination period, never early, and
			 * cancel the rest.
			 */
			RUN

		}

	}

	/**
	 * Settings of the task scheduler.
	 */
	public static class TaskScheduler {

		/**
		 * Whether to offer a "taskScheduler" on the wheel, in place of Boot's.
		 */
		private boolean enabled = false;

		public boolean isEnabled() {
			return this.enabled;
		}

		public void setEnabled(boolean enabled) {
			this.enabled = enabled;
		}

	}

	/**
	 * Settings of {@code @Timeout}.
	 */
	public static class Timeout {

		/**
		 * Order of the advice of "@Timeout" among the advisors of a bean. By default
		 * inside "@Retryable" and outside "@Transactional".
		 */
		private int order = Ordered.LOWEST_PRECEDENCE - 1;

		public int getOrder() {
			return this.order;
		}

		public void setOrder(int order) {
			this.order = order;
		}

	}

	/**
	 * Settings of the observations of task executions.
	 */
	public static class Observations {

		/**
		 * Whether to observe the execution of delayed tasks when an observation registry
		 * is present.
		 */
		private boolean enabled = true;

		public boolean isEnabled() {
			return this.enabled;
		}

		public void setEnabled(boolean enabled) {
			this.enabled = enabled;
		}

	}

	/**
	 * Settings of the health indicator.
	 */
	public static class Health {

		/**
		 * How far the wheel may be behind its time and still be healthy.
		 */
		private Duration maxLag = Duration.ofSeconds(1);

		public Duration getMaxLag() {
			return this.maxLag;
		}

		public void setMaxLag(Duration maxLag) {
			this.maxLag = maxLag;
		}

	}

}

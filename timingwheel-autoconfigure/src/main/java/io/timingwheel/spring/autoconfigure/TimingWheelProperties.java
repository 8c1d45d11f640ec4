package io.timingwheel.spring.autoconfigure;

import java.time.Duration;

import io.timingwheel.spring.autoconfigure.internal.PropertyChecks;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.InitializingBean;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The {@code timingwheel.*} properties, without those of the store. Conditions read the
 * switches, which are here for the check of their type.
 *
 * @param enabled Whether to set up the wheel, the template and the annotations. Without
 * them, annotated methods run at once when called.
 * @param tick Resolution of the wheel, at most one day. A timer fires up to one tick
 * after its deadline.
 * @param maxPending Maximum number of timers that may be pending in memory. Further calls
 * are rejected. No limit by default.
 * @param shutdown what happens when the application context closes
 * @param health settings of the health indicator
 * @param timeout settings of the time limits
 * @param taskScheduler settings of the task scheduler
 * @since 0.1
 */
@ConfigurationProperties("timingwheel")
public record TimingWheelProperties(@DefaultValue("true") boolean enabled, @DefaultValue("1ms") Duration tick,
		@Nullable Long maxPending, @DefaultValue Shutdown shutdown, @DefaultValue Health health,
		@DefaultValue Timeout timeout, @DefaultValue TaskScheduler taskScheduler) implements InitializingBean {

	/** Checks the values that the builder of the wheel does not check. */
	@Override
	public void afterPropertiesSet() {
		Duration period = this.shutdown.awaitTerminationPeriod();
		PropertyChecks.check(!period.isNegative(), "timingwheel.shutdown.await-termination-period", period,
				"it must not be negative: use 0s for no wait");
		Duration maxLag = this.health.maxLag();
		PropertyChecks.check(!maxLag.isNegative() && !maxLag.isZero(), "timingwheel.health.max-lag", maxLag,
				"it must be positive, such as 1s");
	}

	/**
	 * What happens when the application context closes.
	 *
	 * @param pending What to do with tasks that are pending in memory: cancel all of
	 * them, or run those that are due within the await-termination period.
	 * @param awaitTerminationPeriod How long to wait for running tasks and, with "run",
	 * for tasks that are due in this time.
	 */
	public record Shutdown(@DefaultValue("cancel") Pending pending,
			@DefaultValue("30s") Duration awaitTerminationPeriod) {

		public enum Pending {

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
	 *
	 * @param maxLag Lag at which the wheel counts as down.
	 */
	public record Health(@DefaultValue("1s") Duration maxLag) {

	}

	/**
	 * Settings of the time limits.
	 *
	 * @param problemDetails Whether a web request that ends with an uncaught
	 * MethodTimeoutException is answered with 504 and a problem detail.
	 */
	public record Timeout(@DefaultValue("true") boolean problemDetails) {

	}

	/**
	 * Settings of the task scheduler.
	 *
	 * @param enabled Whether to offer a "taskScheduler" on the wheel, in place of Boot's.
	 */
	public record TaskScheduler(@DefaultValue("false") boolean enabled) {

	}

}

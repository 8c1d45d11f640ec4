package io.timingwheel.spring.durable.store;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.TimeUnit;

/**
 * When a task is due, by the store's clock.
 *
 * @param millis from now or, if absolute, since the epoch
 * @since 0.1
 */
public record DueTime(long millis, boolean absolute) {

	/**
	 * @param delay from now, rounded up to milliseconds; negative for now
	 */
	public static DueTime after(Duration delay) {
		return new DueTime(Math.max(0, roundedUp(delay)), false);
	}

	/**
	 * @param time rounded up to milliseconds; may be in the past
	 */
	public static DueTime at(Instant time) {
		return new DueTime(Math.max(0, roundedUp(Duration.between(Instant.EPOCH, time))), true);
	}

	/**
	 * The due time, at most {@link DelayedTaskStore#MAX_TIME}. All times are milliseconds
	 * since the epoch.
	 */
	public long resolve(long now) {
		long time = this.absolute ? this.millis : now + Math.min(this.millis, DelayedTaskStore.MAX_TIME);
		return Math.min(time, DelayedTaskStore.MAX_TIME);
	}

	/**
	 * The new due time of a pending task that is moved to this time. A task that is due
	 * and is moved to now keeps its due time, and so its position among the tasks that
	 * wait.
	 */
	public long resolve(long dueAt, long now) {
		long time = resolve(now);
		return (time <= now && dueAt <= now) ? dueAt : time;
	}

	/** Rounds up to milliseconds, so that no task runs early. */
	private static long roundedUp(Duration duration) {
		long millis = TimeUnit.MILLISECONDS.convert(duration);
		boolean fraction = duration.getNano() % 1_000_000 != 0;
		return (fraction && !duration.isNegative() && millis != Long.MAX_VALUE) ? millis + 1 : millis;
	}

}

package io.timingwheel.spring.durable;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.TimeUnit;

/**
 * When a task is due, by the store's clock.
 *
 * @param millis milliseconds from now or, if absolute, since the epoch
 * @param absolute whether this is a time rather than a delay
 * @since 0.1
 */
public record DueTime(long millis, boolean absolute) {

	/**
	 * A due time after a delay.
	 * @param delay how long from now, rounded up to milliseconds; negative for now
	 * @return the due time
	 */
	public static DueTime after(Duration delay) {
		if (delay.isNegative()) {
			return new DueTime(0, false);
		}
		return new DueTime(roundedUp(delay), false);
	}

	/**
	 * A due time at an instant.
	 * @param time the instant, rounded up to milliseconds; may be in the past
	 * @return the due time
	 */
	public static DueTime at(Instant time) {
		return new DueTime(Math.max(0, roundedUp(Duration.between(Instant.EPOCH, time))), true);
	}

	/**
	 * Resolves a delay to a time.
	 * @param now the time by the store's clock, in milliseconds since the epoch
	 * @return milliseconds since the epoch, at most {@link DelayedTaskStore#MAX_TIME}
	 */
	public long resolve(long now) {
		long time = this.absolute ? this.millis : now + Math.min(this.millis, DelayedTaskStore.MAX_TIME);
		return Math.min(time, DelayedTaskStore.MAX_TIME);
	}

	/**
	 * Resolves this time for a pending task that is moved to it. A task that is due keeps
	 * its due time if it is moved to now, and so keeps its position among the tasks that
	 * wait.
	 * @param dueAt the due time of the task, in milliseconds since the epoch
	 * @param now the time by the store's clock, in milliseconds since the epoch
	 * @return the new due time, in milliseconds since the epoch
	 */
	public long resolve(long dueAt, long now) {
		long time = resolve(now);
		return (time <= now && dueAt <= now) ? dueAt : time;
	}

	/**
	 * Rounds up to milliseconds, so that no task runs early.
	 */
	private static long roundedUp(Duration duration) {
		long millis = TimeUnit.MILLISECONDS.convert(duration);
		boolean fraction = duration.getNano() % 1_000_000 != 0;
		return (fraction && millis >= 0 && millis != Long.MAX_VALUE) ? millis + 1 : millis;
	}

}

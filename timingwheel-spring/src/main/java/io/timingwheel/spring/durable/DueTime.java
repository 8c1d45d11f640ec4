package io.timingwheel.spring.durable;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.TimeUnit;

/**
 * When a task is due, by the engine's clock.
 *
 * @param millis milliseconds from now or, if absolute, since the epoch
 * @param absolute whether it is a time rather than a delay
 */
public record DueTime(long millis, boolean absolute) {

	/**
	 * After a delay.
	 * @param delay how long from now, rounded up to milliseconds; negative: now
	 * @return the time
	 */
	public static DueTime after(Duration delay) {
		if (delay.isNegative()) {
			return new DueTime(0, false);
		}
		return new DueTime(roundedUp(delay), false);
	}

	/**
	 * At a time.
	 * @param time the time; may be past
	 * @return the time
	 */
	public static DueTime at(Instant time) {
		return new DueTime(Math.max(0, roundedUp(Duration.between(Instant.EPOCH, time))), true);
	}

	/**
	 * The time, given the current one.
	 * @param now the time by the engine's clock
	 * @return milliseconds since the epoch, at most {@link DelayedTaskStore#MAX_TIME}
	 */
	public long resolve(long now) {
		long time = this.absolute ? this.millis : now + Math.min(this.millis, DelayedTaskStore.MAX_TIME);
		return Math.min(time, DelayedTaskStore.MAX_TIME);
	}

	/**
	 * Up, as a task is never early.
	 */
	private static long roundedUp(Duration duration) {
		long millis = TimeUnit.MILLISECONDS.convert(duration);
		boolean fraction = duration.getNano() % 1_000_000 != 0;
		return (fraction && millis >= 0 && millis != Long.MAX_VALUE) ? millis + 1 : millis;
	}

}

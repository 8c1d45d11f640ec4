package io.timingwheel.spring.task.support;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.TimeUnit;

import io.timingwheel.TimeSource;

/**
 * The two clocks of tasks: the wheel's, which decides when a task is due, and the wall
 * clock, by which people are told. The wall clock is read once in a while; in between its
 * time follows from the wheel's. Thread-safe.
 */
public final class TaskClock {

	private static final long SYNCHRONIZED_NANOS = TimeUnit.SECONDS.toNanos(1);

	/** Half the range, so that differences of times do not overflow. */
	private static final long MAX_DELAY = Long.MAX_VALUE >> 1;

	private final TimeSource timeSource;

	private final Clock wallClock;

	private volatile Reading reading;

	TaskClock(TimeSource timeSource, Clock wallClock) {
		this.timeSource = timeSource;
		this.wallClock = wallClock;
		this.reading = read(timeSource.nanoTime());
	}

	/**
	 * The time after a delay.
	 * @param delayNanos how long from now, in nanoseconds; negative: now
	 * @return the time
	 */
	public Deadline after(long delayNanos) {
		long now = nanoTime();
		long delay = Math.max(0, delayNanos);
		return new Deadline(delay, now + Math.min(delay, MAX_DELAY), Nanos.add(epochNanos(now), delay), false);
	}

	/**
	 * The time after a delay.
	 * @param delay how long from now; negative: now; more than 292 years saturate
	 * @return the time
	 */
	public Deadline after(Duration delay) {
		return after(Nanos.of(delay));
	}

	/**
	 * A time of the wall clock. What that says now decides how long it is to wait.
	 * @param instant the time; may be past
	 * @return the time
	 */
	public Deadline at(Instant instant) {
		long delay = Nanos.of(Duration.between(this.wallClock.instant(), instant));
		return new Deadline(delay, nanoTime() + Math.max(-MAX_DELAY, Math.min(delay, MAX_DELAY)),
				Nanos.sinceEpoch(instant), true);
	}

	/**
	 * The same, counted from now.
	 * @param due a time
	 * @return a delay begins now; a time of the wall clock is the same
	 */
	public Deadline restart(Deadline due) {
		return due.absolute() ? at(Nanos.toInstant(due.epochNanos())) : after(due.delayNanos());
	}

	/**
	 * The time by the wheel's clock.
	 */
	long nanoTime() {
		return this.timeSource.nanoTime();
	}

	/**
	 * The time by the wall clock.
	 * @param nanoTime the time by the wheel's clock
	 */
	long epochNanos(long nanoTime) {
		Reading reading = this.reading;
		long since = nanoTime - reading.nanoTime();
		if (since < 0 || since > SYNCHRONIZED_NANOS) {
			reading = read(nanoTime);
			this.reading = reading;
			since = 0;
		}
		return reading.epochNanos() + since;
	}

	private Reading read(long nanoTime) {
		return new Reading(nanoTime, Nanos.sinceEpoch(this.wallClock.instant()));
	}

	/**
	 * Both clocks at one moment.
	 */
	private record Reading(long nanoTime, long epochNanos) {

	}

}

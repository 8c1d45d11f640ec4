package io.timingwheel.spring.task.memory;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.TimeUnit;

import io.timingwheel.TimeSource;
import io.timingwheel.spring.task.internal.ManualTime;
import org.jspecify.annotations.Nullable;

/**
 * The two clocks of tasks: the wheel's clock, which decides when a task is due, and the
 * wall clock, which people read. The wall clock is read at most once a second, unless a
 * test moves the time; in between, the wheel's clock shows how much time has passed. Sums
 * and conversions saturate at about 292 years. Thread-safe.
 */
public final class TaskClock {

	private static final long SYNCHRONIZED_NANOS = TimeUnit.SECONDS.toNanos(1);

	/** Half the range, so that differences of times do not overflow. */
	private static final long MAX_DELAY = Long.MAX_VALUE >> 1;

	/** A longer time between the readings of the two clocks is a stall. */
	private static final long MAX_STALL_NANOS = TimeUnit.MICROSECONDS.toNanos(100);

	private static final int MAX_ATTEMPTS = 5;

	private final TimeSource timeSource;

	private final Clock wallClock;

	/** {@code null} if the time goes on by itself. */
	final @Nullable ManualTime manualTime;

	private volatile Reading reading;

	public TaskClock(TimeSource timeSource, Clock wallClock, @Nullable ManualTime manualTime) {
		this.timeSource = timeSource;
		this.wallClock = wallClock;
		this.manualTime = manualTime;
		this.reading = read();
	}

	public Deadline after(Duration delay) {
		return within(nanoTime(), Math.max(0, nanos(delay)));
	}

	/**
	 * The deadline at a delay, which may be negative, from a time of the wheel's clock.
	 */
	Deadline within(long nowNanos, long delayNanos) {
		return new Deadline(nowNanos, delayNanos, sum(nowNanos, delayNanos), add(epochNanos(nowNanos), delayNanos),
				false);
	}

	public Deadline at(Instant instant) {
		long delay = nanos(Duration.between(this.wallClock.instant(), instant));
		long now = nanoTime();
		return new Deadline(now, delay, sum(now, delay), sinceEpoch(instant), true);
	}

	/** The deadline from now on: a delay starts again, a time of the wall clock stays. */
	public Deadline restart(Deadline due) {
		return due.absolute() ? at(toInstant(due.epochNanos())) : within(nanoTime(), due.delayNanos());
	}

	public Instant now() {
		return toInstant(epochNanos(nanoTime()));
	}

	long nanoTime() {
		return this.timeSource.nanoTime();
	}

	/** The time by the wall clock, in nanoseconds since the epoch. */
	long epochNanos(long nanoTime) {
		Reading reading = this.reading;
		long since = nanoTime - reading.nanoTime();
		if (since < 0 || since > SYNCHRONIZED_NANOS || this.manualTime != null) {
			reading = read();
			this.reading = reading;
			since = nanoTime - reading.nanoTime();
		}
		return add(reading.epochNanos(), since);
	}

	/** Reads both clocks, again after a stall in between, which would shift due times. */
	private Reading read() {
		Reading reading;
		int attempts = 0;
		do {
			reading = new Reading(nanoTime(), sinceEpoch(this.wallClock.instant()));
			attempts++;
		}
		while (nanoTime() - reading.nanoTime() > MAX_STALL_NANOS && attempts < MAX_ATTEMPTS);
		return reading;
	}

	static long nanos(Duration duration) {
		return TimeUnit.NANOSECONDS.convert(duration);
	}

	static Instant toInstant(long epochNanos) {
		return Instant.ofEpochSecond(0, epochNanos);
	}

	/**
	 * A time of the wheel's clock, which may wrap. A longer delay counts as half the
	 * range of {@code long}.
	 */
	private static long sum(long nanoTime, long delay) {
		return nanoTime + Math.max(-MAX_DELAY, Math.min(delay, MAX_DELAY));
	}

	static long add(long a, long b) {
		long sum = a + b;
		if (((a ^ sum) & (b ^ sum)) < 0) {
			return (a < 0) ? Long.MIN_VALUE : Long.MAX_VALUE;
		}
		return sum;
	}

	static long sinceEpoch(Instant instant) {
		return nanos(Duration.ofSeconds(instant.getEpochSecond(), instant.getNano()));
	}

	private record Reading(long nanoTime, long epochNanos) {

	}

	/**
	 * When a task is due. {@link TaskClock} makes deadlines. Immutable.
	 *
	 * @param nowNanos the time at which the deadline was made, by the wheel's clock
	 * @param delayNanos how long from then, in nanoseconds; negative if the time has
	 * passed
	 * @param dueNanos the time by the wheel's clock, in nanoseconds
	 * @param epochNanos the time by the wall clock, in nanoseconds since the epoch
	 * @param absolute whether the user gave a time of the wall clock rather than a delay
	 */
	public record Deadline(long nowNanos, long delayNanos, long dueNanos, long epochNanos, boolean absolute) {

	}

}

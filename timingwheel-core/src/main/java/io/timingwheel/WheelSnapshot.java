package io.timingwheel;

import java.time.Duration;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * The settings of a {@link TimingWheel}, its counters since it was built, and its levels.
 * Immutable. At any time, {@code scheduled} is the sum of {@code pending}, {@code fired},
 * {@code cancelled} and {@code returned}.
 *
 * @param wheelSize the number of slots per level
 * @param scheduled the number of accepted timers. Each run of a periodic task counts,
 * from the hand-over of the run before
 * @param fired the number of hand-overs that executors accepted
 * @param returned the number of timers whose tasks {@link TimingWheel#stop()} returned
 * @param rejected the number of timers that the limit has prevented
 * @param refused the number of hand-overs that executors refused. The wheel repeats each
 * of them later
 * @param wakeUps the number of times that the wheel's thread woke up and had work: at
 * most one for each slot that is or was occupied, retry of an executor, and early cascade
 * @param lag how long the earliest slot that has begun has been waiting for the wheel's
 * thread, zero if no slot has begun
 * @param maxLag the longest time that a batch of expired timers waited for its hand-over
 * @param nextExpiry a lower bound of the time until the next timer fires, {@code null} if
 * no timer is pending
 * @param levels the levels up to the highest one that holds or held timers, the finest
 * level first
 * @since 0.1
 */
public record WheelSnapshot(State state, Duration tick, int wheelSize, int shards, long pending, long scheduled,
		long rescheduled, long fired, long cancelled, long returned, long rejected, long refused, long wakeUps,
		Duration lag, Duration maxLag, @Nullable Duration nextExpiry, List<Level> levels) {

	public WheelSnapshot {
		levels = List.copyOf(levels);
	}

	public enum State {

		RUNNING,

		/** {@link TimingWheel#stop()} was called, or the wheel's thread has ended. */
		STOPPED

	}

	/**
	 * One level of all shards together. A timer that was moved to later stays in its old
	 * slot until the wheel's thread comes to that slot. A timer whose executor has
	 * refused it stands in no slot.
	 *
	 * @param level the number of the level, 0 for the finest
	 * @param tick the duration that one slot covers
	 * @param span the duration that the whole level covers
	 * @param pending the number of timers in the level
	 * @param occupiedSlots the number of slots that hold timers
	 */
	public record Level(int level, Duration tick, Duration span, long pending, int occupiedSlots) {

	}

}

package io.timingwheel;

import java.time.Duration;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * A reading of a {@link TimingWheel}: its settings, its counters since it was built and
 * its levels. Counters of different shards are read one after the other.
 *
 * @param state whether the wheel runs
 * @param tick the duration of a tick
 * @param wheelSize the number of slots per level
 * @param shards the number of shards
 * @param pending the number of pending timers
 * @param scheduled how many timers were accepted
 * @param rescheduled how many times a timer was moved
 * @param fired how many hand-overs were accepted
 * @param cancelled how many timers were cancelled
 * @param rejected how many hand-overs an executor refused; each is tried again
 * @param refused how many timers were turned away at the limit
 * @param wakeUps how many times the driver was woken by the start of an occupied slot
 * @param lag how long the earliest occupied slot that is due has been waiting for the
 * driver; zero when none is due
 * @param maxLag the longest that a batch of expired timers waited for its hand-over
 * @param nextExpiry a lower bound of the time until the next timer fires, {@code null}
 * when none is pending
 * @param levels the levels that hold timers or held some, the finest first
 */
public record WheelSnapshot(State state, Duration tick, int wheelSize, int shards, long pending, long scheduled,
		long rescheduled, long fired, long cancelled, long rejected, long refused, long wakeUps, Duration lag,
		Duration maxLag, @Nullable Duration nextExpiry, List<Level> levels) {

	/**
	 * Copies the list.
	 */
	public WheelSnapshot {
		levels = List.copyOf(levels);
	}

	/**
	 * Whether a wheel runs.
	 */
	public enum State {

		/**
		 * Timers are accepted and fire.
		 */
		RUNNING,

		/**
		 * {@link TimingWheel#stop()} was called.
		 */
		STOPPED

	}

	/**
	 * One level, summed over the shards. The counts are physical: a timer that was moved
	 * to later stands in its old slot until the driver meets it there, and a slot may
	 * count as occupied until then.
	 *
	 * @param level the number of the level, 0 being the finest
	 * @param tick the duration that one slot covers
	 * @param span the duration that the whole level covers
	 * @param pending how many timers stand in it
	 * @param occupiedSlots how many of its slots hold timers
	 */
	public record Level(int level, Duration tick, Duration span, long pending, int occupiedSlots) {

	}

}

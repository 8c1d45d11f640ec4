package io.timingwheel.spring.durable.support;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;

import io.timingwheel.spring.durable.Claimed;
import io.timingwheel.spring.durable.LeasedTask;

/**
 * How long before their due time the node leases tasks: the look-ahead of the settings,
 * if the node has room for all tasks that fall due within it. Otherwise the look-ahead
 * shrinks until there is room. So the room is for the earliest tasks of all, and tasks
 * that are due later do not take it from them. Running tasks do not count: the room is
 * what they leave to the tasks that wait.
 *
 * <p>
 * The room reflects a new look-ahead only after the tasks of the one before have run. So
 * the look-ahead changes at most once in its own length. The poller changes it; any
 * thread may read it.
 */
final class LookAhead {

	/**
	 * The shortest look-ahead that the node chooses, in milliseconds. The node finds each
	 * task in time although it sleeps after a claim with tasks.
	 */
	static final long MIN_MILLIS = 2 * Claimed.MAX_PAUSE_MILLIS + 50;

	/**
	 * There is too little room if less than this many eighths of it are free. One of
	 * several names takes up to three quarters of the room.
	 */
	private static final int SHORT_OF_EIGHT = 3;

	/** The look-ahead may grow if more than this many eighths of the room are free. */
	private static final int AMPLE_OF_EIGHT = 5;

	/** With the room of {@link #AMPLE_OF_EIGHT} this growth leaves enough. */
	private static final double GROWTH = 1.4;

	private final long max;

	private final long min;

	private volatile long millis;

	/** When the look-ahead may change again. */
	private long changeAt;

	/**
	 * Creates a look-ahead.
	 * @param setting the look-ahead of the settings
	 * @param nanoTime the time of the node
	 */
	LookAhead(Duration setting, long nanoTime) {
		this.max = setting.toMillis();
		this.min = Math.min(this.max, MIN_MILLIS);
		this.millis = this.max;
		this.changeAt = nanoTime;
	}

	/**
	 * The present look-ahead.
	 */
	Duration current() {
		return Duration.ofMillis(this.millis);
	}

	/**
	 * How long the node may sleep after a claim, in milliseconds. Other nodes may store
	 * tasks meanwhile, and these are not due before the node claims again.
	 * @param interval the poll interval in milliseconds
	 */
	long maxSleepMillis(long interval) {
		return (this.millis < this.max) ? Math.min(interval, Math.max(1, this.millis / 2)) : interval;
	}

	/**
	 * Learns from a claim.
	 * @param claimed what the claim has taken
	 * @param free how much room nobody has reserved after the claim
	 * @param waiting how many tasks wait until they are due
	 * @param nanoTime the time of the node
	 */
	void claimed(Claimed claimed, int free, IntSupplier waiting, long nanoTime) {
		if (nanoTime - this.changeAt < 0) {
			return;
		}
		boolean later = hasTaskDueLater(claimed);
		if (!later && this.millis == this.max) {
			return;
		}
		long room = (long) free + waiting.getAsInt();
		long next = this.millis;
		if (later && 8L * free < SHORT_OF_EIGHT * room) {
			next = Math.max(this.min, this.millis / 2);
		}
		else if (8L * free > AMPLE_OF_EIGHT * room) {
			next = Math.min(this.max, (long) (GROWTH * this.millis) + 1);
		}
		if (next != this.millis) {
			this.millis = next;
			this.changeAt = nanoTime + TimeUnit.MILLISECONDS.toNanos(next);
		}
	}

	private static boolean hasTaskDueLater(Claimed claimed) {
		for (LeasedTask task : claimed.tasks()) {
			if (!task.begun()) {
				return true;
			}
		}
		return false;
	}

}

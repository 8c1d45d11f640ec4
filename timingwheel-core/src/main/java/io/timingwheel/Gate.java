package io.timingwheel;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

/**
 * The timers of one shard that wait for one executor, which refuses. Only the driver uses
 * a gate, except that others take timers from its lists, with the lock of the shard. The
 * driver reads the sizes of the lists without it, so they may be out of date.
 *
 * <p>
 * A due timer waits untried while the gate is closed or others wait untried. Otherwise it
 * is tried. The second refusal in a row closes the gate. A retry opens it and tries the
 * oldest timer. If the executor accepts this timer, the retry goes on in the order of the
 * timers, otherwise with those that were not tried yet. So a timer that is never accepted
 * stops no other timer. A retry ends at the second refusal in a row.
 *
 * <p>
 * The pause is 5 ms at first. It doubles with each retry, up to 1 s, unless the executor
 * has accepted a task since the retry before. So the executor throws at most three times
 * per pause and shard, plus once for each accepted task.
 */
final class Gate {

	static final long MIN_PAUSE = TimeUnit.MILLISECONDS.toNanos(5);

	private static final long MAX_PAUSE = TimeUnit.SECONDS.toNanos(1);

	final Object executor;

	final Shard shard;

	/**
	 * The tick of the next retry, and a number that orders gates with the same tick.
	 * Never changed, only replaced, since it is a key. Empty before the first turn.
	 */
	long[] turn = {};

	/** The timer with which a retry begins, after the executor has refused it there. */
	private final TimerList first;

	private final TimerList tried;

	final TimerList untried;

	private long pause = MIN_PAUSE;

	private boolean closed;

	/** The refusals since a task was accepted, or since the retry began. */
	private int refusals;

	private boolean accepted;

	private Retry retry = Retry.OTHERS;

	Gate(Object executor, Shard shard) {
		this.executor = executor;
		this.shard = shard;
		this.first = new TimerList(shard, TimerList.NO_SLOT);
		this.tried = new TimerList(shard, TimerList.NO_SLOT);
		this.untried = new TimerList(shard, TimerList.NO_SLOT);
	}

	/** The source is the list of a retry, null if the timer has fallen due. */
	boolean holdsBack(@Nullable TimerList source) {
		boolean retried = source == this.first || source == this.tried || source == this.untried;
		return !retried && (this.closed || !this.untried.isEmpty());
	}

	TimerList listForRefused() {
		return (this.retry == Retry.FIRST) ? this.first : this.tried;
	}

	/** Returns whether the next retry must come earlier. */
	boolean accept() {
		boolean longer = this.pause > MIN_PAUSE;
		this.accepted = true;
		this.refusals = 0;
		this.pause = MIN_PAUSE;
		if (this.retry == Retry.FIRST) {
			this.retry = Retry.IN_ORDER;
		}
		return longer;
	}

	void refuse(@Nullable TimerList source) {
		this.refusals++;
		// A retry of this gate may come across timers that are never accepted.
		this.closed |= this.refusals > 1 && source != this.first && source != this.tried;
		if (this.retry == Retry.FIRST) {
			this.retry = Retry.OTHERS;
		}
	}

	void beginRetry() {
		this.closed = false;
		this.refusals = 0;
		this.retry = Retry.FIRST;
	}

	/**
	 * The list whose first timer the retry tries next, an empty one if none is left, null
	 * if the retry is over.
	 */
	@Nullable TimerList next() {
		if (this.refusals > 1) {
			return null;
		}
		boolean inOrder = this.retry != Retry.OTHERS;
		if (inOrder && !this.first.isEmpty()) {
			return this.first;
		}
		TimerList list = inOrder ? this.tried : this.untried;
		return !list.isEmpty() ? list : inOrder ? this.untried : this.tried;
	}

	/** Returns the nanoseconds until the next one, 0 if this one may go on. */
	long endRetry(boolean cutShort) {
		this.retry = Retry.OTHERS;
		if (cutShort && this.refusals < 2) {
			return 0;
		}
		this.pause = this.accepted ? MIN_PAUSE : Math.min(2 * this.pause, MAX_PAUSE);
		this.accepted = false;
		return this.pause;
	}

	int size() {
		return this.first.size() + this.tried.size() + this.untried.size();
	}

	void forEach(Consumer<Timer> consumer) {
		lists().forEach((list) -> list.forEach(consumer));
	}

	void clear() {
		lists().forEach(TimerList::clear);
	}

	private List<TimerList> lists() {
		return List.of(this.first, this.tried, this.untried);
	}

	private enum Retry {

		/** The oldest one. Its outcome decides about the others. */
		FIRST,

		/** All, in the order in which they fell due. */
		IN_ORDER,

		/** The oldest one was refused: the others come first. Also without a retry. */
		OTHERS

	}

}

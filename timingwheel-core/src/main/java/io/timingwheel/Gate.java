package io.timingwheel;

import java.util.Comparator;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

/**
 * The timers of one shard that wait for one executor, which refuses. Only the driver uses
 * a gate. The lock of the shard guards its lists.
 *
 * <p>
 * A timer that falls due waits untried while the gate is closed or other timers wait
 * untried. Otherwise it is tried. The second refusal in a row closes the gate. A retry
 * opens the gate again. It tries the oldest timer. If the executor accepts this timer,
 * the retry goes on with the others, in their order. If the executor refuses it, the
 * retry goes on with the timers that were not tried yet. So a timer that the executor
 * never accepts stops no other timer. A retry ends at the second refusal in a row.
 *
 * <p>
 * The pause before the first retry is 5 ms. It doubles with each retry, up to 1 s, unless
 * the executor has accepted a task since the retry before. So the executor throws at most
 * three times per pause and shard, plus once for each accepted task.
 */
final class Gate {

	static final Comparator<Gate> BY_RETRY = Comparator.<Gate>comparingLong((gate) -> gate.retryTick)
		.thenComparingLong((gate) -> gate.turn);

	static final long MIN_PAUSE = TimeUnit.MILLISECONDS.toNanos(5);

	private static final long MAX_PAUSE = TimeUnit.SECONDS.toNanos(1);

	final Object executor;

	final Shard shard;

	/** The timer with which a retry begins, after the executor has refused it there. */
	private final TimerList first;

	private final TimerList tried;

	private final TimerList untried;

	/** The tick of the next retry. */
	long retryTick;

	/** The order of gates with the same retry tick. */
	long turn;

	private long pause = MIN_PAUSE;

	/** Whether a timer that falls due waits for the next retry. */
	private boolean closed;

	/** The refusals since a task was accepted, or since the retry began. */
	private int refusals;

	/** Whether the executor has accepted a task since the last retry. */
	private boolean accepted;

	/** The list from which the retry has taken its timer, null if no retry goes on. */
	private @Nullable TimerList source;

	/** Whether the retry has tried a timer. */
	private boolean begun;

	/** Whether the executor has accepted the first timer of the retry. */
	private boolean passed;

	Gate(Object executor, Shard shard) {
		this.executor = executor;
		this.shard = shard;
		this.first = new TimerList(shard, TimerList.NO_SLOT);
		this.tried = new TimerList(shard, TimerList.NO_SLOT);
		this.untried = new TimerList(shard, TimerList.NO_SLOT);
	}

	/**
	 * The list in which a timer that falls due must wait, null if it can be tried.
	 */
	@Nullable TimerList listForDue() {
		return (this.source == null && (this.closed || !this.untried.isEmpty())) ? this.untried : null;
	}

	/**
	 * The list for a timer that the executor has just refused.
	 */
	TimerList listForRefused() {
		return (this.source != null && !this.begun) ? this.first : this.tried;
	}

	/**
	 * Records that the executor has accepted a task.
	 * @return whether the next retry must come earlier
	 */
	boolean accept() {
		this.accepted = true;
		this.refusals = 0;
		this.passed |= !this.begun;
		this.begun = true;
		boolean longer = this.pause > MIN_PAUSE;
		this.pause = MIN_PAUSE;
		return longer && this.source == null;
	}

	/**
	 * Records that the executor has refused a task.
	 */
	void refuse() {
		this.refusals++;
		this.begun = true;
		// A retry may come across timers that are never accepted.
		if (this.refusals > 1 && (this.source == null || this.source == this.untried)) {
			this.closed = true;
		}
	}

	void beginRetry() {
		this.closed = false;
		this.refusals = 0;
		this.begun = false;
		this.passed = false;
	}

	/**
	 * The list whose first timer the retry tries next, null if the retry is over.
	 */
	@Nullable TimerList next() {
		if (this.refusals > 1) {
			return null;
		}
		boolean triedFirst = this.passed || !this.begun;
		TimerList list = triedFirst ? this.tried : this.untried;
		if (triedFirst && !this.first.isEmpty()) {
			list = this.first;
		}
		else if (list.isEmpty()) {
			list = triedFirst ? this.untried : this.tried;
		}
		this.source = list;
		return list;
	}

	/**
	 * Ends a retry.
	 * @return the pause before the next retry, in nanoseconds; 0 if the retry has only
	 * been interrupted
	 */
	long endRetry(boolean interrupted) {
		this.source = null;
		if (interrupted && this.refusals < 2) {
			return 0;
		}
		this.pause = this.accepted ? MIN_PAUSE : Math.min(2 * this.pause, MAX_PAUSE);
		this.accepted = false;
		return this.pause;
	}

	/**
	 * The number of timers that wait.
	 */
	int size() {
		return this.first.size() + this.tried.size() + this.untried.size();
	}

	/**
	 * Passes on all timers, and removes them.
	 */
	void drain(Consumer<Timer> consumer) {
		for (TimerList list : new TimerList[] { this.first, this.tried, this.untried }) {
			list.forEach(consumer);
			list.clear();
		}
	}

}

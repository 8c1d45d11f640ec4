package io.timingwheel;

import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

/**
 * The timers of one executor that refuses, in the order in which they fell due, and the
 * time of the next retry. Only the driver uses this class. Other threads remove timers
 * from the {@link WaitingTimers}.
 *
 * <p>
 * A mark in the queue separates the timers that have been tried from those that have not.
 * A retry tries the first timer. If the executor accepts this timer, the retry goes on
 * with the timers behind it, in their order. If the executor refuses this timer, the
 * retry goes on with the timer after the mark. So a timer that the executor never accepts
 * stops no other timer. A refusal that directly follows an accepted task has no
 * consequence. Neither has the first refusal of a retry. The next refusal ends the retry.
 *
 * <p>
 * The pause before the first retry is 5 ms. It doubles with each retry, up to 1 s, unless
 * the executor has accepted a task since the retry before. Between two retries, timers
 * that fall due are tried until the executor refuses one. So the executor throws at most
 * three times per pause, plus once for each accepted task.
 */
final class RefusalQueue {

	static final long MIN_PAUSE = TimeUnit.MILLISECONDS.toNanos(5);

	private static final long MAX_PAUSE = TimeUnit.SECONDS.toNanos(1);

	private static final int NONE = -1;

	/** The executor, or the class of tasks that do not name their executor. */
	final Object key;

	/** The tick of the next retry. {@link Refusals} changes it. */
	long retryTick;

	/** The order of queues with the same retry tick. {@link Refusals} changes it. */
	long turn;

	private final WaitingTimers waiting;

	/** The node that ends the list. */
	private final int list;

	/** The node before the timers that have not been tried. */
	private final int mark;

	/** The node of the timer that is being tried again. */
	private int inHand = NONE;

	private Retry retry = Retry.NONE;

	private long pause = MIN_PAUSE;

	/** Whether there may be timers that have not been tried. */
	private boolean untried;

	/** Whether the next refusal has no consequence. */
	private boolean credit;

	/** Whether the executor has refused a timer that fell due since the last retry. */
	private boolean closed;

	/** Whether the executor has accepted a task since the last retry. */
	private boolean accepted;

	RefusalQueue(Object key, WaitingTimers waiting) {
		this.key = key;
		this.waiting = waiting;
		waiting.lockNext();
		try {
			this.list = waiting.createList();
			this.mark = waiting.next(this.list);
		}
		finally {
			waiting.unlock();
		}
	}

	/**
	 * Whether a timer that falls due has to wait for the next retry. A timer never
	 * overtakes another one that has not been tried.
	 */
	boolean holdsBack() {
		return this.closed || this.untried || this.retry != Retry.NONE;
	}

	/**
	 * Appends a timer that has not been tried. The caller holds the locks of the timer's
	 * shard and of the waiting timers.
	 */
	void append(Timer timer) {
		int node = this.waiting.allocate(timer);
		this.waiting.insertBefore(this.list, node);
		timer.waitIn(node);
		if (!this.untried && this.retry == Retry.NONE) {
			this.waiting.unlink(this.mark);
			this.waiting.insertBefore(node, this.mark);
		}
		this.untried = true;
	}

	/**
	 * Inserts the timer that has been tried, so that it waits for the next retry. The
	 * caller holds the locks of the timer's shard and of the waiting timers.
	 */
	void insertTried(Timer timer) {
		int node = this.inHand;
		if (this.retry == Retry.NONE) {
			node = this.waiting.allocate(timer);
			this.waiting.insertBefore(this.list, node);
		}
		else if (this.retry == Retry.FIRST) {
			this.waiting.insertAfter(this.list, node);
		}
		else {
			this.waiting.insertBefore(this.mark, node);
		}
		this.inHand = NONE;
		timer.waitIn(node);
	}

	/**
	 * Records that the executor has accepted a task.
	 */
	void accepted() {
		this.accepted = true;
		this.credit = true;
		if (this.retry == Retry.FIRST) {
			this.retry = Retry.REST;
			moveMark();
		}
	}

	/**
	 * Records a refusal.
	 */
	void refused() {
		if (this.retry == Retry.FIRST) {
			this.retry = Retry.REST;
			moveMarkIfAtEnd();
		}
		else if (!this.credit) {
			if (this.retry == Retry.NONE) {
				this.closed = true;
			}
			else {
				this.retry = Retry.ENDING;
			}
		}
		this.credit = false;
	}

	private void moveMark() {
		this.waiting.lockNext();
		try {
			this.waiting.unlink(this.mark);
			this.waiting.insertAfter(this.list, this.mark);
		}
		finally {
			this.waiting.unlock();
		}
	}

	/**
	 * Lets a retry whose first timer was refused go on with the second timer if there is
	 * none after the mark.
	 */
	private void moveMarkIfAtEnd() {
		this.waiting.lockNext();
		try {
			int first = this.waiting.next(this.list);
			if (this.waiting.next(this.mark) == this.list && first != this.mark) {
				this.waiting.unlink(this.mark);
				this.waiting.insertAfter(first, this.mark);
			}
		}
		finally {
			this.waiting.unlock();
		}
	}

	/**
	 * Begins a retry, or goes on with it.
	 */
	void beginRetry() {
		if (this.retry == Retry.NONE) {
			this.retry = Retry.FIRST;
			this.closed = false;
		}
	}

	/**
	 * Takes the next timer of a retry in hand and expires it.
	 * @return the timer, null if the retry is over
	 */
	@Nullable Timer poll() {
		while (true) {
			Timer timer = peek();
			Shard shard = (timer != null) ? timer.shard() : null;
			if (timer == null || (shard != null && shard.expireWaiting(timer, this))) {
				return timer;
			}
		}
	}

	/**
	 * The next timer of a retry, null if the retry is over. Leaves out timers that
	 * another thread has ended, since that thread removes them.
	 */
	private @Nullable Timer peek() {
		this.waiting.lockNext();
		try {
			release();
			if (this.retry == Retry.ENDING) {
				return null;
			}
			int node = this.waiting.next((this.retry == Retry.FIRST) ? this.list : this.mark);
			while (node != this.list) {
				Timer timer = this.waiting.timer(node);
				if (timer != null && timer.shard() != null) {
					return timer;
				}
				node = this.waiting.next(node);
			}
			return null;
		}
		finally {
			this.waiting.unlock();
		}
	}

	/**
	 * Takes a timer in hand. The caller holds the locks of the timer's shard and of the
	 * waiting timers.
	 */
	void takeInHand(Timer timer) {
		this.inHand = timer.node();
		this.waiting.unlink(this.inHand);
	}

	private void release() {
		if (this.inHand != NONE) {
			this.waiting.free(this.inHand);
			this.inHand = NONE;
		}
	}

	/**
	 * Ends a retry.
	 * @return the pause before the next retry, in nanoseconds; -1 if no timer is left, so
	 * that the queue ends
	 */
	long endRetry() {
		this.retry = Retry.NONE;
		this.pause = this.accepted ? MIN_PAUSE : Math.min(2 * this.pause, MAX_PAUSE);
		this.accepted = false;
		this.waiting.lockNext();
		try {
			boolean atEnd = this.waiting.next(this.mark) == this.list;
			if (atEnd && this.waiting.previous(this.mark) == this.list) {
				this.waiting.unlink(this.mark);
				this.waiting.free(this.mark);
				this.waiting.free(this.list);
				return -1;
			}
			this.untried &= !atEnd;
		}
		finally {
			this.waiting.unlock();
		}
		return this.pause;
	}

	/**
	 * Shortens the pause, since the executor has accepted a task.
	 * @return false if the pause is the shortest already
	 */
	boolean shortenPause() {
		boolean longer = this.pause > MIN_PAUSE;
		this.pause = MIN_PAUSE;
		return longer;
	}

	private enum Retry {

		/** No retry is in progress. */
		NONE,

		/** The first timer is tried next. */
		FIRST,

		/** The timer after the mark is tried next. */
		REST,

		/** The retry is over because of a refusal. */
		ENDING

	}

}

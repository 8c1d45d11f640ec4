package io.timingwheel;

import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.PriorityQueue;

import org.jspecify.annotations.Nullable;

/**
 * The executors that refuse, each with a {@link RefusalQueue}. A queue exists from the
 * first refusal until no timer waits. Only the driver uses this class, unless a method
 * says otherwise.
 */
final class Refusals {

	private static final Comparator<RefusalQueue> BY_RETRY = Comparator
		.<RefusalQueue>comparingLong((queue) -> queue.retryTick)
		.thenComparingLong((queue) -> queue.turn);

	private final WheelClock time;

	private final WaitingTimers waiting;

	private Map<Object, RefusalQueue> queues = new IdentityHashMap<>();

	/** All queues, by their next retry. Planning a retry again allocates nothing. */
	private PriorityQueue<RefusalQueue> byRetry = new PriorityQueue<>(BY_RETRY);

	private long turns;

	private volatile long nextRetry = Wheel.NEVER;

	private volatile long count;

	private final RateLimitedWarning warning = new RateLimitedWarning();

	Refusals(WheelClock time, WaitingTimers waiting) {
		this.time = time;
		this.waiting = waiting;
	}

	/**
	 * The queue of an executor, null if the executor does not refuse.
	 */
	@Nullable RefusalQueue of(Object key) {
		return this.queues.isEmpty() ? null : this.queues.get(key);
	}

	/**
	 * The queue of an executor that has just refused.
	 */
	RefusalQueue create(Object key) {
		RefusalQueue queue = new RefusalQueue(key, this.waiting);
		schedule(queue, retryAfter(RefusalQueue.MIN_PAUSE));
		this.queues.put(key, queue);
		return queue;
	}

	/**
	 * Counts a refusal, and logs a warning at most once a minute.
	 */
	void refused(Throwable reason) {
		this.count++;
		this.warning
			.log("An executor has refused a task of the timing wheel. The task stays pending and is handed over again"
					+ " later. Give the executor more threads or a longer queue, or schedule fewer tasks", reason);
	}

	/**
	 * Records that an executor has accepted a task that fell due between two retries.
	 */
	void accepted(RefusalQueue queue) {
		queue.accepted();
		if (queue.shortenPause()) {
			long retryTick = retryAfter(RefusalQueue.MIN_PAUSE);
			if (retryTick < queue.retryTick) {
				this.byRetry.remove(queue);
				schedule(queue, retryTick);
			}
		}
	}

	/**
	 * The queue whose retry is due, or goes on, null if there is none.
	 */
	@Nullable RefusalQueue due(long now) {
		return (this.nextRetry <= now) ? this.byRetry.peek() : null;
	}

	/**
	 * Lets the queues of other executors go first.
	 */
	void interruptRetry(RefusalQueue queue, long now) {
		this.byRetry.remove(queue);
		schedule(queue, now);
	}

	/**
	 * Plans the next retry of a queue, or removes the queue if no timer waits in it.
	 */
	void endRetry(RefusalQueue queue) {
		long pause = queue.endRetry();
		this.byRetry.remove(queue);
		if (pause >= 0) {
			schedule(queue, retryAfter(pause));
			return;
		}
		this.queues.remove(queue.key, queue);
		// This comes before the allocations, which may fail.
		plan();
		if (this.byRetry.isEmpty()) {
			// The old collections would keep their capacity for the largest number of
			// queues.
			this.queues = new IdentityHashMap<>();
			this.byRetry = new PriorityQueue<>(BY_RETRY);
		}
	}

	private void schedule(RefusalQueue queue, long retryTick) {
		queue.retryTick = retryTick;
		queue.turn = this.turns++;
		this.byRetry.add(queue);
		plan();
	}

	private void plan() {
		RefusalQueue first = this.byRetry.peek();
		this.nextRetry = (first != null) ? first.retryTick : Wheel.NEVER;
	}

	private long retryAfter(long pause) {
		return this.time.dueTick(this.time.elapsed(), pause);
	}

	/**
	 * The tick of the next retry, {@link Wheel#NEVER} if there is none. Any thread may
	 * call this.
	 */
	long nextRetry() {
		return this.nextRetry;
	}

	/**
	 * How many hand-overs executors have refused. Any thread may call this.
	 */
	long count() {
		return this.count;
	}

}

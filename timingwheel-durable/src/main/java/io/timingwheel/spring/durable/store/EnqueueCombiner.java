package io.timingwheel.spring.durable.store;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;

/**
 * Lets callers that store tasks at the same time share a request to a store, and so a
 * commit. Each caller returns after the commit, with its own result. One request is under
 * way at a time. When it has ended, the caller that has waited longest sends the tasks of
 * all that wait. A caller without company sends its task at once. Thread-safe.
 *
 * <p>
 * The store uses it only for calls outside of transactions. A task that the store
 * refuses, or that has to wait for a lock, does not harm the tasks that share its
 * request: each caller then stores its task alone. An interrupt of a caller does not
 * reach the request that it sends for others, unless it comes during the request. If the
 * store cannot be reached, all callers of the request get the same exception.
 *
 * @since 0.1
 */
public final class EnqueueCombiner {

	private static final int MAX_TASKS = 100;

	/** A request with more characters would be slow, or too large for the store. */
	private static final int MAX_PAYLOADS = 1_000_000;

	private final Request together;

	private final Function<NewTask, Enqueued> alone;

	private final Queue<Call> waiting = new ArrayDeque<>();

	/** The caller that sends the request, or is about to; {@code null} for none. */
	private volatile @Nullable Thread sender;

	/**
	 * Creates a combiner.
	 * @param together stores the tasks of several callers in one request
	 * @param alone stores a task in a request of its own
	 */
	public EnqueueCombiner(Request together, Function<NewTask, Enqueued> alone) {
		this.together = together;
		this.alone = alone;
	}

	/**
	 * Stores a task.
	 * @param task the task
	 * @return the result
	 * @throws RuntimeException if the task is not, or not certainly, stored
	 */
	public Enqueued enqueue(NewTask task) {
		Thread caller = Thread.currentThread();
		// A call within the request of its own thread must not wait for this request.
		if (caller.isInterrupted() || this.sender == caller) {
			return this.alone.apply(task);
		}
		Call call = new Call(task);
		boolean interrupted = !join(call) && call.await();
		try {
			if (!call.ended) {
				send();
			}
		}
		finally {
			if (interrupted) {
				caller.interrupt();
			}
		}
		Enqueued enqueued = call.result();
		return (enqueued != null) ? enqueued : this.alone.apply(task);
	}

	/**
	 * Adds a call.
	 * @return whether its caller sends the next request
	 */
	private synchronized boolean join(Call call) {
		this.waiting.add(call);
		if (this.sender != null) {
			return false;
		}
		this.sender = call.caller;
		return true;
	}

	private void send() {
		List<Call> group = take();
		List<? extends @Nullable Enqueued> enqueued = null;
		Throwable failure = null;
		try {
			enqueued = this.together.send(group.stream().map((call) -> call.task).toList());
			Assert.state(enqueued == null || enqueued.size() == group.size(),
					"The store has not returned a result for each task, and the tasks may be stored");
		}
		catch (PartlyStoredException ex) {
			enqueued = ex.enqueued();
			failure = ex.failure();
		}
		catch (Throwable ex) {
			failure = ex;
		}
		Call next = appointNext();
		for (int i = 0; i < group.size(); i++) {
			Enqueued one = (enqueued != null) ? enqueued.get(i) : null;
			group.get(i).end(one, (one == null) ? failure : null);
		}
		if (next != null) {
			// This comes last, so that the callers of this request may come back before.
			next.turn();
		}
	}

	/**
	 * Takes the first calls that wait, as many as a request can have. The first of them
	 * is that of the sender.
	 */
	private synchronized List<Call> take() {
		List<Call> group = new ArrayList<>();
		long payloads = 0;
		for (Call call = this.waiting.peek(); call != null && group.size() < MAX_TASKS; call = this.waiting.peek()) {
			payloads += call.task.payload().length();
			if (!group.isEmpty() && payloads > MAX_PAYLOADS) {
				break;
			}
			group.add(this.waiting.remove());
		}
		return group;
	}

	private synchronized @Nullable Call appointNext() {
		Call next = this.waiting.peek();
		this.sender = (next != null) ? next.caller : null;
		return next;
	}

	/**
	 * A request that stores the tasks of several callers.
	 *
	 * @since 0.1
	 */
	public interface Request {

		/**
		 * Stores tasks, outside of any transaction of the calling thread.
		 * @param tasks the tasks
		 * @return the result for each task, in this order; {@code null} if none was
		 * stored, and each caller has to store its task alone
		 * @throws PartlyStoredException if some of the tasks are stored
		 * @throws RuntimeException if the store cannot be reached
		 */
		@Nullable List<Enqueued> send(List<NewTask> tasks);

	}

	/**
	 * The call of one caller, which waits for its turn or its result.
	 */
	private static final class Call {

		private final NewTask task;

		private final Thread caller = Thread.currentThread();

		private @Nullable Enqueued enqueued;

		private @Nullable Throwable failure;

		private volatile boolean sends;

		private volatile boolean ended;

		Call(NewTask task) {
			this.task = task;
		}

		/**
		 * Waits until this caller has to send the next request, or has its result. An
		 * interrupt does not end the wait, since the task may be under way.
		 * @return whether the caller was interrupted
		 */
		boolean await() {
			boolean interrupted = false;
			while (!this.sends && !this.ended) {
				LockSupport.park(this);
				interrupted |= Thread.interrupted();
			}
			return interrupted;
		}

		void turn() {
			this.sends = true;
			LockSupport.unpark(this.caller);
		}

		void end(@Nullable Enqueued enqueued, @Nullable Throwable failure) {
			this.enqueued = enqueued;
			this.failure = failure;
			this.ended = true;
			LockSupport.unpark(this.caller);
		}

		@Nullable Enqueued result() {
			if (this.failure instanceof Error error) {
				throw error;
			}
			if (this.failure != null) {
				throw (RuntimeException) this.failure;
			}
			return this.enqueued;
		}

	}

}

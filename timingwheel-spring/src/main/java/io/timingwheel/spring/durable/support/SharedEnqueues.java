package io.timingwheel.spring.durable.support;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;

import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.Enqueued;
import io.timingwheel.spring.durable.NewTask;
import io.timingwheel.spring.durable.PartlyStoredException;
import org.jspecify.annotations.Nullable;

/**
 * Lets callers that store tasks at the same time share a request to the store, and so a
 * commit. A caller sends its task at once, unless two requests are under way. The tasks
 * of the callers that come then make the next request, which the first of them sends.
 * Nobody waits for company. Each caller returns after the commit, with its own result.
 *
 * <p>
 * With one request at a time, callers that store one task after another would wait for
 * two requests each: the caller that comes back first has the next request to itself.
 *
 * <p>
 * If the store cannot take the tasks of a request together, each caller stores its task
 * alone, while the others go on. So a task that the store refuses, or that has to wait
 * for a lock, does not harm its neighbours. If the store cannot be reached, all callers
 * of the request get the same exception. An interrupt of the caller that sends harms
 * nobody: if the caller is interrupted before it sends, each caller stores its task
 * alone. Thread-safe.
 */
final class SharedEnqueues {

	private static final int MAX_REQUESTS = 2;

	private static final int MAX_TASKS = 100;

	/** A request with more characters would be slow, or too large for the store. */
	private static final int MAX_PAYLOADS = 1_000_000;

	private final DelayedTaskStore store;

	private final int maxRequests;

	private final Map<Object, Lane> lanes = new ConcurrentHashMap<>();

	SharedEnqueues(DelayedTaskStore store) {
		this(store, MAX_REQUESTS);
	}

	/**
	 * Creates an object with a limit of its own, for tests.
	 */
	SharedEnqueues(DelayedTaskStore store, int maxRequests) {
		this.store = store;
		this.maxRequests = maxRequests;
	}

	/**
	 * Stores a task, outside of any transaction that the store takes part in.
	 * @throws RuntimeException if the task is not, or not certainly, stored
	 */
	Enqueued enqueue(NewTask task) {
		Object lane = this.store.sharedRequest(task);
		// An interrupt may end the request, and must not end it for others.
		if (lane == null || Thread.currentThread().isInterrupted()) {
			return this.store.enqueue(task);
		}
		Enqueued enqueued = this.lanes.computeIfAbsent(lane, (key) -> new Lane()).enqueue(task);
		return (enqueued != null) ? enqueued : this.store.enqueue(task);
	}

	/**
	 * The callers whose tasks can share a request.
	 */
	private final class Lane {

		private final Queue<Call> waiting = new ArrayDeque<>();

		private int underWay;

		/**
		 * Stores a task with those of other callers.
		 * @return {@code null} if the caller has to store the task alone
		 */
		@Nullable Enqueued enqueue(NewTask task) {
			Call call = new Call(task);
			if (!begins(call)) {
				call.await();
			}
			if (!call.group.isEmpty()) {
				try {
					send(call.group);
				}
				finally {
					next();
				}
			}
			return call.result();
		}

		private synchronized boolean begins(Call call) {
			if (this.underWay == SharedEnqueues.this.maxRequests) {
				this.waiting.add(call);
				return false;
			}
			this.underWay++;
			call.group = List.of(call);
			return true;
		}

		/**
		 * Lets the first caller that waits send the next request.
		 */
		private synchronized void next() {
			Call first = this.waiting.peek();
			if (first == null) {
				this.underWay--;
				return;
			}
			List<Call> group = new ArrayList<>();
			int payloads = 0;
			for (Call call = first; call != null && group.size() < MAX_TASKS
					&& (group.isEmpty() || payloads + call.task.payload().length() <= MAX_PAYLOADS); call = this.waiting
						.peek()) {
				payloads += call.task.payload().length();
				group.add(this.waiting.remove());
			}
			first.lead(group);
		}

		private void send(List<Call> group) {
			List<? extends @Nullable Enqueued> enqueued = null;
			Throwable failure = null;
			try {
				enqueued = Thread.currentThread().isInterrupted() ? null
						: SharedEnqueues.this.store.enqueueShared(group.stream().map((call) -> call.task).toList());
			}
			catch (PartlyStoredException ex) {
				enqueued = ex.enqueued();
				failure = ex.failure();
			}
			catch (Throwable ex) {
				failure = ex;
			}
			for (int i = 0; i < group.size(); i++) {
				Enqueued one = (enqueued != null) ? enqueued.get(i) : null;
				group.get(i).end(one, (one == null) ? failure : null);
			}
		}

	}

	/**
	 * The call of one caller, which waits for its turn or its result.
	 */
	private static final class Call {

		private final NewTask task;

		private final Thread caller = Thread.currentThread();

		/** The calls of the request that the caller has to send; empty for none. */
		private List<Call> group = List.of();

		private @Nullable Enqueued enqueued;

		private @Nullable Throwable failure;

		private volatile boolean woken;

		Call(NewTask task) {
			this.task = task;
		}

		/**
		 * Waits, even if the caller is interrupted: its task may be under way.
		 */
		void await() {
			boolean interrupted = false;
			while (!this.woken) {
				LockSupport.park(this);
				interrupted |= Thread.interrupted();
			}
			if (interrupted) {
				this.caller.interrupt();
			}
		}

		void lead(List<Call> group) {
			this.group = group;
			wake();
		}

		void end(@Nullable Enqueued enqueued, @Nullable Throwable failure) {
			this.enqueued = enqueued;
			this.failure = failure;
			wake();
		}

		private void wake() {
			this.woken = true;
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

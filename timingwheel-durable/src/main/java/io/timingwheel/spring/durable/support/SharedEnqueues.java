package io.timingwheel.spring.durable.support;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongUnaryOperator;

import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.Enqueued;
import io.timingwheel.spring.durable.NewTask;
import io.timingwheel.spring.durable.PartlyStoredException;
import org.jspecify.annotations.Nullable;

/**
 * Lets callers that store tasks at the same time share a request to the store, and so a
 * commit. Each caller returns after the commit, with its own result.
 * <ul>
 * <li>A caller without company sends its task at once. While callers have no company, two
 * requests may be under way.</li>
 * <li>Once a request has the tasks of several callers, a second request begins beside it
 * only if 16 callers wait, or if the store asks for two groups and half of all callers
 * wait ({@link DelayedTaskStore#sharingGroups()}). One large request takes the store less
 * time than two small ones. With two groups, one half returns and stores its next tasks
 * while the store works on the tasks of the other half.</li>
 * <li>The callers of a request that has ended often store their next tasks at once. So
 * the next request waits until enough callers have come, but only briefly. The last of
 * them sends the request. If the first of them sent its task alone, the others would wait
 * for two requests.</li>
 * </ul>
 *
 * <p>
 * If the store cannot take the tasks of a request together, each caller stores its task
 * alone, while the others go on. So a task that the store refuses, or that has to wait
 * for a lock, does not harm its neighbours. If the store cannot be reached, all callers
 * of the request get the same exception. If the caller that sends is interrupted before
 * it sends, each caller stores its task alone. Thread-safe.
 */
final class SharedEnqueues {

	private static final int MAX_REQUESTS = 2;

	private static final int MAX_TASKS = 100;

	/** A request with more characters would be slow, or too large for the store. */
	private static final int MAX_PAYLOADS = 1_000_000;

	/** A request with this many tasks waits for no more, nor for another request. */
	private static final int ENOUGH = 16;

	/** The longest wait for callers that may come back. */
	private static final long MAX_WAIT = TimeUnit.MICROSECONDS.toNanos(500);

	/** A shorter wait would end late, since threads do not wake up more exactly. */
	private static final long MIN_WAIT = TimeUnit.MICROSECONDS.toNanos(50);

	/** The wait is at most this part of the time of the ended request. */
	private static final int WAIT_PART = 2;

	private final DelayedTaskStore store;

	private final int maxRequests;

	private final int groups;

	private final LongUnaryOperator companyNanos;

	private final Map<Object, Sharers> sharers = new ConcurrentHashMap<>();

	/** The threads that send a request. */
	private final Set<Thread> senders = ConcurrentHashMap.newKeySet();

	SharedEnqueues(DelayedTaskStore store) {
		this(store, MAX_REQUESTS, Math.max(1, Math.min(store.sharingGroups(), MAX_REQUESTS)),
				SharedEnqueues::companyNanos);
	}

	/**
	 * Creates an object with limits of its own, for tests.
	 * @param maxRequests how many requests may be under way
	 * @param groups into how many groups the callers are divided, at most as many as
	 * requests may be under way
	 * @param companyNanos gives, for the duration of a request, how long the next request
	 * waits for the callers of that request; both in nanoseconds
	 */
	SharedEnqueues(DelayedTaskStore store, int maxRequests, int groups, LongUnaryOperator companyNanos) {
		this.store = store;
		this.maxRequests = maxRequests;
		this.groups = groups;
		this.companyNanos = companyNanos;
	}

	static long companyNanos(long requestNanos) {
		long wait = requestNanos / WAIT_PART;
		return (wait < MIN_WAIT) ? 0 : Math.min(wait, MAX_WAIT);
	}

	/**
	 * Stores a task, outside of any transaction that the store takes part in.
	 * @throws RuntimeException if the task is not, or not certainly, stored
	 */
	Enqueued enqueue(NewTask task) {
		Object request = this.store.sharedRequest(task);
		Thread caller = Thread.currentThread();
		// An interrupt may end the request, and must not end it for others. A call within
		// the request of its own thread must not wait for the end of this request.
		if (request == null || caller.isInterrupted() || this.senders.contains(caller)) {
			return this.store.enqueue(task);
		}
		Enqueued enqueued = this.sharers.computeIfAbsent(request, (key) -> new Sharers()).enqueue(task);
		return (enqueued != null) ? enqueued : this.store.enqueue(task);
	}

	/**
	 * The callers whose tasks can share a request.
	 */
	private final class Sharers {

		private final Queue<Call> waiting = new ArrayDeque<>();

		/** The characters of their payloads. */
		private long payloads;

		private int underWay;

		/** How many tasks these requests have together. */
		private int tasksUnderWay;

		/** How many callers of ended requests may come back. */
		private int expected;

		/** Until when they are expected. */
		private long expectedUntil;

		/**
		 * The first call of those that wait, while a request may begin. Its caller sends
		 * the request if nobody else does so before the wait for company ends.
		 */
		private @Nullable Call gatherer;

		/**
		 * Stores a task with those of other callers.
		 * @return {@code null} if the caller has to store the task alone
		 */
		@Nullable Enqueued enqueue(NewTask task) {
			Call call = new Call(task);
			List<Call> group = join(call);
			if (group.isEmpty()) {
				group = await(call);
			}
			if (!group.isEmpty()) {
				send(group);
			}
			return call.result();
		}

		/**
		 * Adds a call.
		 * @return the calls whose request the caller has to send, this call among them;
		 * empty for none
		 */
		private synchronized List<Call> join(Call call) {
			this.waiting.add(call);
			this.payloads += call.payload();
			if (this.expected > 0) {
				this.expected--;
			}
			if (!mayBegin()) {
				return List.of();
			}
			Call first = (this.gatherer != null) ? this.gatherer : appointGatherer();
			if (!isComplete()) {
				return List.of();
			}
			if (!fitsOneRequest()) {
				// The next request does not have this call, but has the first one.
				first.wake();
				return List.of();
			}
			return take();
		}

		/**
		 * Waits for the result or the turn of a call, even if the caller is interrupted:
		 * its task may be under way.
		 * @return the calls whose request the caller has to send, this call among them;
		 * empty if the call has ended
		 */
		private List<Call> await(Call call) {
			boolean interrupted = false;
			List<Call> group = List.of();
			while (group.isEmpty() && !call.ended) {
				if (call.gathers) {
					LockSupport.parkNanos(this, remainingNanos());
				}
				else {
					LockSupport.park(this);
				}
				interrupted |= Thread.interrupted();
				group = call.gathers ? gathered(call) : List.of();
			}
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
			return group;
		}

		private synchronized long remainingNanos() {
			return Math.max(1, this.expectedUntil - System.nanoTime());
		}

		/**
		 * Ends the wait for company, if there is enough of it or the time is over.
		 */
		private synchronized List<Call> gathered(Call call) {
			return (call == this.gatherer && isComplete()) ? take() : List.of();
		}

		/**
		 * Whether another request may begin. Requests with one task each hold nobody up.
		 */
		private boolean mayBegin() {
			return this.underWay == 0 || (this.underWay < SharedEnqueues.this.maxRequests
					&& (this.tasksUnderWay == this.underWay || isEnough()));
		}

		private boolean isComplete() {
			return stillExpected() == 0 || isEnough();
		}

		/**
		 * Whether the calls that wait need no more company: there are many, or they are
		 * one of the groups. With two groups, this is half of all callers. The callers
		 * are those that wait, those whose tasks are under way, and those that may come
		 * back. Of an odd number the smaller half is enough if nobody else may come. A
		 * request that may begin because of this is complete too.
		 */
		private boolean isEnough() {
			int waiting = this.waiting.size();
			int expected = stillExpected();
			int callers = waiting + this.tasksUnderWay + expected;
			int groups = SharedEnqueues.this.groups;
			return waiting >= ENOUGH || (waiting > 1 && waiting * groups >= callers)
					|| (this.underWay > 0 && expected == 0 && waiting >= callers / groups);
		}

		private int stillExpected() {
			return (System.nanoTime() - this.expectedUntil < 0) ? this.expected : 0;
		}

		/**
		 * Whether a request can have all calls that wait.
		 */
		private boolean fitsOneRequest() {
			return this.waiting.size() <= MAX_TASKS && this.payloads <= MAX_PAYLOADS;
		}

		/**
		 * Takes the first calls that wait, as many as a request can have.
		 */
		private List<Call> take() {
			this.underWay++;
			Objects.requireNonNull(this.gatherer).gathers = false;
			this.gatherer = null;
			List<Call> group = new ArrayList<>();
			long taken = 0;
			for (Call call = this.waiting.peek(); call != null && group.size() < MAX_TASKS
					&& (group.isEmpty() || taken + call.payload() <= MAX_PAYLOADS); call = this.waiting.peek()) {
				taken += call.payload();
				group.add(this.waiting.remove());
			}
			this.payloads -= taken;
			this.tasksUnderWay += group.size();
			if (!this.waiting.isEmpty() && mayBegin()) {
				appointGatherer().wake();
			}
			return group;
		}

		private Call appointGatherer() {
			Call first = this.waiting.element();
			first.gathers = true;
			this.gatherer = first;
			return first;
		}

		private void send(List<Call> group) {
			List<? extends @Nullable Enqueued> enqueued = null;
			Throwable failure = null;
			long start = System.nanoTime();
			SharedEnqueues.this.senders.add(Thread.currentThread());
			try {
				if (!Thread.currentThread().isInterrupted()) {
					enqueued = enqueueShared(group.stream().map((call) -> call.task).toList());
				}
			}
			catch (PartlyStoredException ex) {
				enqueued = ex.enqueued();
				failure = ex.failure();
			}
			catch (Throwable ex) {
				failure = ex;
			}
			finally {
				SharedEnqueues.this.senders.remove(Thread.currentThread());
			}
			Call next = ended(group.size(), System.nanoTime() - start);
			for (int i = 0; i < group.size(); i++) {
				Enqueued one = (enqueued != null) ? enqueued.get(i) : null;
				group.get(i).end(one, (one == null) ? failure : null);
			}
			if (next != null) {
				// This comes last, so that the callers of this request may come back
				// before.
				next.wake();
			}
		}

		private @Nullable List<? extends @Nullable Enqueued> enqueueShared(List<NewTask> tasks) {
			List<? extends @Nullable Enqueued> enqueued = SharedEnqueues.this.store.enqueueShared(tasks);
			if (enqueued != null && enqueued.size() != tasks.size()) {
				throw new IllegalStateException("The store returned %d results for %d tasks, which may be stored"
					.formatted(enqueued.size(), tasks.size()));
			}
			return enqueued;
		}

		/**
		 * Ends a request.
		 * @return the call whose caller sends the next request, {@code null} for none
		 */
		private synchronized @Nullable Call ended(int tasks, long nanos) {
			this.underWay--;
			this.tasksUnderWay -= tasks;
			this.expected = stillExpected();
			if (tasks > 1 || !this.waiting.isEmpty()) {
				this.expected += tasks;
				this.expectedUntil = System.nanoTime() + SharedEnqueues.this.companyNanos.applyAsLong(nanos);
			}
			return (this.gatherer == null && !this.waiting.isEmpty() && mayBegin()) ? appointGatherer() : null;
		}

	}

	/**
	 * The call of one caller, which waits for its turn or its result.
	 */
	private static final class Call {

		private final NewTask task;

		private final Thread caller = Thread.currentThread();

		private @Nullable Enqueued enqueued;

		private @Nullable Throwable failure;

		/** Whether the caller of this call sends the next request. */
		private volatile boolean gathers;

		private volatile boolean ended;

		Call(NewTask task) {
			this.task = task;
		}

		int payload() {
			return this.task.payload().length();
		}

		void end(@Nullable Enqueued enqueued, @Nullable Throwable failure) {
			this.enqueued = enqueued;
			this.failure = failure;
			this.ended = true;
			wake();
		}

		void wake() {
			if (this.caller != Thread.currentThread()) {
				LockSupport.unpark(this.caller);
			}
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

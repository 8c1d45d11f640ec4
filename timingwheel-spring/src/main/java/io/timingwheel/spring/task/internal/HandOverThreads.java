package io.timingwheel.spring.task.internal;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * The threads that call executors whose {@code execute} may block. Each executor has a
 * queue. At most one thread at a time calls an executor, in the order of its queue, so
 * that an executor that blocks occupies one thread. A thread belongs to no executor: it
 * hands over one task and then serves the executor that has waited longest. A thread ends
 * when it has been idle for 10 seconds.
 *
 * <p>
 * There are at most {@value #MAX_THREADS} threads. The executors of one class occupy at
 * most {@value #MAX_THREADS_PER_CLASS} of them. A lambda expression has a class of its
 * own, so a call site that makes a new executor for each task cannot occupy all threads.
 *
 * <p>
 * If an executor refuses a task, its queue waits and the same task is tried again. No
 * thread waits with it. Thread-safe.
 */
final class HandOverThreads {

	static final int MAX_THREADS = 48;

	static final int MAX_THREADS_PER_CLASS = 40;

	private static final Log logger = LogFactory.getLog(HandOverThreads.class);

	private static final AtomicInteger names = new AtomicInteger();

	private static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(10);

	private static final long FIRST_BACKOFF_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

	private static final long MAX_BACKOFF_NANOS = TimeUnit.SECONDS.toNanos(1);

	/**
	 * Guards all fields, and those of the queues. No thread holds the lock while it calls
	 * an executor.
	 */
	private final ReentrantLock lock = new ReentrantLock();

	private final Condition readied = this.lock.newCondition();

	/** The queues that are not empty. */
	private final Map<Executor, HandOverQueue> queues = new IdentityHashMap<>();

	private final Map<Class<?>, Peers> peers = new HashMap<>();

	/** The queues that the next free threads serve. */
	private final Queue<HandOverQueue> ready = new ArrayDeque<>();

	private final Set<Thread> threads = new HashSet<>();

	/** How many threads look for a queue. */
	private int idle;

	private volatile boolean closed;

	/**
	 * Adds a task to the queue of its executor.
	 * @param failed takes what the executor throws if it is not a refusal; {@code null}
	 * to try again then, too
	 * @throws RejectedExecutionException after {@link #close()}
	 */
	void add(Executor executor, Runnable task, @Nullable Consumer<? super Throwable> failed) {
		this.lock.lock();
		try {
			if (this.closed) {
				throw new RejectedExecutionException("The hand-over of tasks has ended");
			}
			Entry entry = new Entry(task, failed);
			HandOverQueue queue = this.queues.get(executor);
			if (queue != null) {
				queue.tasks.add(entry);
				return;
			}
			queue = new HandOverQueue(executor);
			queue.tasks.add(entry);
			this.queues.put(executor, queue);
			admit(queue);
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Ends the threads, and drops the tasks that they have not handed over.
	 * @return the threads that have not ended
	 */
	Set<Thread> close() {
		this.lock.lock();
		try {
			this.closed = true;
			this.queues.clear();
			this.peers.clear();
			this.ready.clear();
			this.threads.forEach(Thread::interrupt);
			return Set.copyOf(this.threads);
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Lets a queue wait for a thread, behind the other executors of its class.
	 */
	private void admit(HandOverQueue queue) {
		Peers peers = this.peers.computeIfAbsent(queue.executor.getClass(), (type) -> new Peers());
		peers.waiting.add(queue);
		if (peers.admitted < MAX_THREADS_PER_CLASS) {
			peers.admitted++;
			admitNext(peers);
		}
	}

	private void admitNext(Peers peers) {
		this.ready.add(peers.waiting.remove());
		if (this.ready.size() > this.idle && this.threads.size() < MAX_THREADS) {
			start();
		}
		else {
			this.readied.signal();
		}
	}

	/**
	 * Lets the next executor of the class take the place of one that was served.
	 */
	private void leave(HandOverQueue queue) {
		Class<?> type = queue.executor.getClass();
		Peers peers = this.peers.get(type);
		if (peers == null) {
			return;
		}
		if (!peers.waiting.isEmpty()) {
			admitNext(peers);
		}
		else if (--peers.admitted == 0) {
			this.peers.remove(type);
		}
	}

	private void start() {
		// The thread inherits no thread-locals, since they would come from an arbitrary
		// task.
		Thread thread = new Thread(null, this::run, "timing-wheel-hand-over-" + names.incrementAndGet(), 0, false);
		thread.setDaemon(true);
		try {
			thread.start();
			this.threads.add(thread);
		}
		catch (OutOfMemoryError ex) {
			// The machine has no more threads at the moment.
			later(MAX_BACKOFF_NANOS, this::startAgain);
		}
	}

	private void startAgain() {
		this.lock.lock();
		try {
			if (this.ready.size() > this.idle && this.threads.size() < MAX_THREADS) {
				start();
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	private static void later(long nanos, Runnable action) {
		CompletableFuture.delayedExecutor(nanos, TimeUnit.NANOSECONDS, Runnable::run).execute(action);
	}

	private void run() {
		for (HandOverQueue queue = next(null); queue != null; queue = next(queue)) {
			handOver(queue);
		}
	}

	/**
	 * Waits for an executor to serve.
	 * @param served the executor that this thread has served
	 * @return the executor, {@code null} if the thread is to end
	 */
	private @Nullable HandOverQueue next(@Nullable HandOverQueue served) {
		this.lock.lock();
		try {
			this.idle++;
			if (served != null && !this.closed) {
				settle(served);
			}
			long nanos = IDLE_NANOS;
			while (this.ready.isEmpty() && !this.closed && nanos > 0) {
				nanos = await(nanos);
			}
			HandOverQueue queue = this.ready.poll();
			if (queue == null) {
				this.threads.remove(Thread.currentThread());
			}
			else if (queue.inHand == null) {
				queue.inHand = queue.tasks.remove();
			}
			return queue;
		}
		finally {
			this.idle--;
			this.lock.unlock();
		}
	}

	private long await(long nanos) {
		try {
			return this.readied.awaitNanos(nanos);
		}
		catch (InterruptedException ex) {
			// The interrupt comes from close(), or from a body that ran on this thread.
			return nanos;
		}
	}

	/**
	 * Decides what becomes of a queue whose task was handed over or refused.
	 */
	private void settle(HandOverQueue queue) {
		if (queue.inHand != null) {
			later(queue.backoffNanos, () -> tryAgain(queue));
			queue.backoffNanos = Math.min(2 * queue.backoffNanos, MAX_BACKOFF_NANOS);
		}
		else {
			queue.backoffNanos = FIRST_BACKOFF_NANOS;
			if (queue.tasks.isEmpty()) {
				this.queues.remove(queue.executor);
			}
			else {
				admit(queue);
			}
		}
		leave(queue);
	}

	private void tryAgain(HandOverQueue queue) {
		this.lock.lock();
		try {
			if (!this.closed) {
				admit(queue);
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Hands the task in hand over. If the executor refuses the task, it stays in hand.
	 */
	private void handOver(HandOverQueue queue) {
		// A body that ran on this thread may have left an interrupt behind, which the
		// next body must not see. This may also clear the interrupt of close(), which
		// sets the field before it interrupts.
		Thread.interrupted();
		Entry entry = queue.inHand;
		if (entry == null || this.closed) {
			return;
		}
		try {
			queue.executor.execute(entry.task());
			queue.inHand = null;
		}
		catch (Throwable ex) {
			// If a body ran on this thread and threw, the next attempt does not run it
			// again.
			if (entry.failed() != null && !isRefusal(ex)) {
				queue.inHand = null;
				report(ex, entry.failed());
			}
			else if (queue.backoffNanos == FIRST_BACKOFF_NANOS) {
				UserErrors.log(logger::debug,
						"Refused by an executor of " + queue.executor.getClass() + ", trying again", ex);
			}
		}
	}

	private static void report(Throwable error, Consumer<? super Throwable> failed) {
		try {
			failed.accept(error);
		}
		catch (Throwable ex) {
			UserErrors.log(logger::error, "A task whose executor threw an exception could not be ended", ex);
		}
	}

	/**
	 * Whether an executor that threw may take the task later. Other exceptions come from
	 * what the executor calls before it takes the task, such as a {@code TaskDecorator}.
	 */
	static boolean isRefusal(Throwable error) {
		// Without more threads, the JVM throws an OutOfMemoryError. If the executor is a
		// bean that has to be created, another exception contains the error. A decorator
		// whose recursion does not end overflows the stack at each attempt.
		return error instanceof RejectedExecutionException
				|| (error instanceof VirtualMachineError && !(error instanceof StackOverflowError))
				|| UserErrors.rootCause(error) instanceof OutOfMemoryError;
	}

	/**
	 * The tasks that wait for one executor. The queue is in one place at a time: among
	 * its {@link Peers peers}, ready, with a thread, or waiting to try again.
	 */
	private static final class HandOverQueue {

		private final Executor executor;

		private final Queue<Entry> tasks = new ArrayDeque<>();

		/** The first task while a thread hands it over, or until it is tried again. */
		private @Nullable Entry inHand;

		private long backoffNanos = FIRST_BACKOFF_NANOS;

		HandOverQueue(Executor executor) {
			this.executor = executor;
		}

	}

	/**
	 * A task that waits.
	 */
	private record Entry(Runnable task, @Nullable Consumer<? super Throwable> failed) {

	}

	/**
	 * The executors of one class.
	 */
	private static final class Peers {

		private final Queue<HandOverQueue> waiting = new ArrayDeque<>();

		/** How many queues are ready or with a thread. */
		private int admitted;

	}

}

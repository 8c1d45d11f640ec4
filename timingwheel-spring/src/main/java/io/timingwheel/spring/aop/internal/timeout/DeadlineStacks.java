package io.timingwheel.spring.aop.internal.timeout;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Interrupts the threads of expired calls, and reads their stacks before. Reading takes
 * milliseconds if all cores are busy, and before Java 21 stops all threads meanwhile. So
 * a thread of its own reads, at most 1 % of the time in the long run. If many calls
 * expire at once, the wheel's thread interrupts those that come late without a stack.
 */
final class DeadlineStacks implements AutoCloseable {

	/** How much time must pass for each unit of time that was spent on reading. */
	private static final long SHARE = 100;

	/** The reading time that may be spent at once, after a pause. */
	private static final long BURST_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

	private static final int MAX_WAITING = 32;

	private static final long KEEP_ALIVE_SECONDS = 10;

	private final ThreadPoolExecutor reader = new ThreadPoolExecutor(0, 1, KEEP_ALIVE_SECONDS, TimeUnit.SECONDS,
			new ArrayBlockingQueue<>(MAX_WAITING), DeadlineStacks::newThread);

	/** When the reading so far is paid for, by {@link System#nanoTime()}. */
	private volatile long paidAt = System.nanoTime();

	/**
	 * Interrupts the thread of an expired call, in this method or soon after it. Only the
	 * wheel's thread calls this.
	 */
	void interrupt(InterruptGuard guard) {
		if (!mayRead() || !submit(guard)) {
			guard.interrupt(null);
		}
	}

	private boolean submit(InterruptGuard guard) {
		try {
			this.reader.execute(() -> read(guard));
			return true;
		}
		catch (RuntimeException | OutOfMemoryError ex) {
			// There are too many at once, or no thread can be started.
			return false;
		}
	}

	private void read(InterruptGuard guard) {
		if (!mayRead()) {
			guard.interrupt(null);
			return;
		}
		long start = System.nanoTime();
		StackTraceElement[] stack = null;
		try {
			stack = guard.thread().getStackTrace();
		}
		finally {
			guard.interrupt(stack);
		}
		long paidAt = (this.paidAt - start > 0) ? this.paidAt : start;
		this.paidAt = paidAt + SHARE * (System.nanoTime() - start);
	}

	private boolean mayRead() {
		return this.paidAt - System.nanoTime() < SHARE * BURST_NANOS;
	}

	/** Ends the thread when it has interrupted the threads that wait for it. */
	@Override
	public void close() {
		this.reader.shutdown();
	}

	private static Thread newThread(Runnable task) {
		Thread thread = new Thread(task, "timeout-stacks");
		thread.setDaemon(true);
		return thread;
	}

	/**
	 * Carries the stack that the thread of a call had at the deadline, and is suppressed
	 * in the timeout of that call.
	 */
	static final class StackAtDeadline extends Exception {

		private static final long serialVersionUID = 1L;

		StackAtDeadline(Thread thread, StackTraceElement[] stack) {
			super("Thread \"%s\" at the deadline".formatted(thread.getName()), null, false, true);
			setStackTrace(stack);
		}

	}

}

package io.timingwheel.spring.aop.internal;

import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Interrupts the threads of expired calls, and reads their stacks before. Reading takes
 * milliseconds if all cores are busy, and before Java 21 stops all threads meanwhile. So
 * a thread of its own reads, with a pause after each stack. If many calls expire at once,
 * the wheel's thread interrupts the others without a stack.
 */
final class DeadlineStacks implements AutoCloseable {

	private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

	private final ThreadPoolExecutor reader = new ThreadPoolExecutor(0, 1, 10, TimeUnit.SECONDS,
			new SynchronousQueue<>(), DeadlineStacks::newThread);

	/** When the pause ends, by {@link System#nanoTime()}. */
	private volatile long pausedUntil = System.nanoTime();

	/**
	 * Interrupts the thread of an expired call, in this method or soon after it. Only the
	 * wheel's thread calls this.
	 */
	void interrupt(InterruptGuard guard) {
		try {
			if (System.nanoTime() - this.pausedUntil >= 0) {
				this.reader.execute(() -> read(guard));
				return;
			}
		}
		catch (RuntimeException | OutOfMemoryError ex) {
			// The thread reads another stack, or cannot be started.
		}
		guard.interrupt(null);
	}

	private void read(InterruptGuard guard) {
		StackTraceElement[] stack = null;
		try {
			stack = guard.thread.getStackTrace();
		}
		finally {
			guard.interrupt(stack);
			this.pausedUntil = System.nanoTime() + PAUSE_NANOS;
		}
	}

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

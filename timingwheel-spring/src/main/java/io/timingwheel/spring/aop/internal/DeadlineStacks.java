package io.timingwheel.spring.aop.internal;

import java.util.concurrent.TimeUnit;

/**
 * Interrupts the threads of expired calls, and reads their stacks before. Reading takes
 * milliseconds if all cores are busy, and before Java 21 stops all threads meanwhile. So
 * a thread of its own reads, with a pause after each stack. If many calls expire at once,
 * the wheel's thread interrupts the others without a stack.
 */
final class DeadlineStacks {

	private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

	/** Longer than reading takes, so that one thread reads at a time. */
	private static final long MAX_READ_NANOS = TimeUnit.SECONDS.toNanos(10);

	/** When another stack may be read, by {@link System#nanoTime()}. */
	private volatile long pausedUntil = System.nanoTime();

	/**
	 * Interrupts the thread of an expired call, in this method or soon after it. Only the
	 * wheel's thread calls this.
	 */
	void interrupt(InterruptGuard guard) {
		long now = System.nanoTime();
		if (now - this.pausedUntil < 0) {
			guard.interrupt(null);
			return;
		}
		this.pausedUntil = now + MAX_READ_NANOS;
		Thread reader = new Thread(() -> read(guard), "timeout-stack");
		reader.setDaemon(true);
		try {
			reader.start();
		}
		catch (OutOfMemoryError ex) {
			// The machine has no more threads.
			this.pausedUntil = now;
			guard.interrupt(null);
		}
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

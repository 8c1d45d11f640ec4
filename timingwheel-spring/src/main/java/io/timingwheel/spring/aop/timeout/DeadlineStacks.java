package io.timingwheel.spring.aop.timeout;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Interrupts the threads of expired calls, and reads the stack of each thread before the
 * interrupt.
 *
 * <p>
 * Reading the stack of another thread takes microseconds on an idle machine. If all cores
 * are busy, it takes milliseconds. Before Java 21 it also stops all threads of the JVM
 * meanwhile. The wheel's thread therefore does not read stacks, because that would delay
 * other timers. A thread of its own reads them, and ends when it has had nothing to do
 * for some time. Reading takes at most 1 % of the time in the long run. If many calls
 * expire at once, the first of them get their stack, and the wheel's thread interrupts
 * the others without.
 *
 * <p>
 * Thread-safe.
 */
final class DeadlineStacks {

	/** How much time must pass for each unit of time that was spent on reading. */
	private static final long SHARE = 100;

	/** The reading time that may be spent at once, after a pause. */
	private static final long BURST_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

	private static final int MAX_WAITING = 32;

	private static final long KEEP_ALIVE_SECONDS = 10;

	private final ThreadPoolExecutor reader = new ThreadPoolExecutor(1, 1, KEEP_ALIVE_SECONDS, TimeUnit.SECONDS,
			new ArrayBlockingQueue<>(MAX_WAITING), DeadlineStacks::newThread);

	/** When the reading so far is paid for, by {@link System#nanoTime()}. */
	private volatile long paidAt = System.nanoTime();

	DeadlineStacks() {
		this.reader.allowCoreThreadTimeOut(true);
	}

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

	/**
	 * Ends the thread when it has interrupted the threads that wait for it.
	 */
	void close() {
		this.reader.shutdown();
		try {
			this.reader.awaitTermination(1, TimeUnit.SECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private static Thread newThread(Runnable task) {
		Thread thread = new Thread(task, "timeout-stacks");
		thread.setDaemon(true);
		return thread;
	}

}

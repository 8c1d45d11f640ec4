package io.timingwheel.benchmarks.peer;

import java.util.concurrent.CountDownLatch;

/** A timer as its users see it. */
public interface TimerPeer extends AutoCloseable {

	/**
	 * Starts a timer.
	 * @param task what to run
	 * @param delayNanos how long from now
	 * @return what the peer gives to cancel it
	 */
	Object schedule(PeerTask task, long delayNanos);

	/**
	 * The clock of {@link #scheduleFrom} and {@link #resetFrom}.
	 */
	default long nanoTime() {
		return System.nanoTime();
	}

	/**
	 * Starts a timer for a caller that has just read the clock. A peer that takes no
	 * deadline reads the clock again.
	 * @param task what to run
	 * @param now the reading
	 * @param delayNanos how long from that reading
	 * @return what the peer gives to cancel it
	 */
	default Object scheduleFrom(PeerTask task, long now, long delayNanos) {
		return schedule(task, delayNanos);
	}

	void cancel(Object timer);

	/**
	 * Gives a pending timer a new deadline. A peer that cannot move a timer cancels it
	 * and schedules another.
	 * @return the timer to keep in place of the given one
	 */
	default Object reset(Object timer, PeerTask task, long delayNanos) {
		cancel(timer);
		return schedule(task, delayNanos);
	}

	/**
	 * Gives a pending timer a new deadline for a caller that has just read the clock.
	 * @return the timer to keep in place of the given one
	 */
	default Object resetFrom(Object timer, PeerTask task, long now, long delayNanos) {
		cancel(timer);
		return scheduleFrom(task, now, delayNanos);
	}

	/** Waits until the peer's own thread has seen all calls made before. */
	default void settle() throws InterruptedException {
		CountDownLatch fired = new CountDownLatch(1);
		schedule(PeerTask.of(fired::countDown), 1);
		fired.await();
	}

	@Override
	void close();

}

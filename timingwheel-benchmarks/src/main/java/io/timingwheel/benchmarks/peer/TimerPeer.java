package io.timingwheel.benchmarks.peer;

import java.util.concurrent.CountDownLatch;

/**
 * A timer as its users see it.
 */
public interface TimerPeer extends AutoCloseable {

	/**
	 * Starts a timer.
	 * @param task what to run
	 * @param delayNanos how long from now
	 * @return what the peer gives to cancel it
	 */
	Object schedule(PeerTask task, long delayNanos);

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
	 * Waits until the peer's own thread has seen all calls made before.
	 */
	default void settle() throws InterruptedException {
		CountDownLatch fired = new CountDownLatch(1);
		schedule(PeerTask.of(fired::countDown), 1);
		fired.await();
	}

	@Override
	void close();

}

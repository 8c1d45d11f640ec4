package io.timingwheel.benchmarks.peer;

import java.util.concurrent.TimeUnit;

import org.agrona.DeadlineTimerWheel;

/**
 * Agrona's wheel for a single thread. It identifies a timer by a number. Its user has to
 * find the task of the number, which is not measured.
 */
final class AgronaPeer implements TimerPeer {

	/** The wheel needs a power of two: 1.05 ms. */
	private static final long TICK_NANOS = 1 << 20;

	private static final int SLOTS = 1024;

	private final DeadlineTimerWheel wheel = new DeadlineTimerWheel(TimeUnit.NANOSECONDS, System.nanoTime(), TICK_NANOS,
			SLOTS);

	@Override
	public Object schedule(PeerTask task, long delayNanos) {
		return this.wheel.scheduleTimer(System.nanoTime() + delayNanos);
	}

	@Override
	public Object scheduleFrom(PeerTask task, long now, long delayNanos) {
		return this.wheel.scheduleTimer(now + delayNanos);
	}

	@Override
	public void cancel(Object timer) {
		this.wheel.cancelTimer((long) timer);
	}

	@Override
	public void settle() {
		// There is no other thread.
	}

	@Override
	public void close() {
		this.wheel.clear();
	}

}

package io.timingwheel.benchmarks.peer;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import io.timingwheel.TimerHandle;
import io.timingwheel.TimingWheel;

/**
 * This project's wheel, running the tasks on its own thread as Netty does.
 */
final class TimingWheelPeer implements TimerPeer {

	private final TimingWheel wheel;

	TimingWheelPeer(Duration tick) {
		this.wheel = TimingWheel.builder(Runnable::run).tick(tick).build();
	}

	@Override
	public Object schedule(PeerTask task, long delayNanos) {
		return this.wheel.schedule(task, delayNanos, TimeUnit.NANOSECONDS);
	}

	@Override
	public void cancel(Object timer) {
		((TimerHandle) timer).cancel();
	}

	@Override
	public Object reset(Object timer, PeerTask task, long delayNanos) {
		return ((TimerHandle) timer).reschedule(delayNanos, TimeUnit.NANOSECONDS) ? timer : schedule(task, delayNanos);
	}

	@Override
	public void close() {
		this.wheel.close();
	}

}

package io.timingwheel.benchmarks.peer;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import io.timingwheel.TimerHandle;
import io.timingwheel.TimingWheel;

/** This project's wheel, running the tasks on its own thread as Netty does. */
final class TimingWheelPeer implements TimerPeer {

	private final TimingWheel wheel;

	TimingWheelPeer(Duration tick) {
		this(TimingWheel.builder(Runnable::run).tick(tick));
	}

	TimingWheelPeer(TimingWheel.Builder builder) {
		this.wheel = builder.build();
	}

	@Override
	public Object schedule(PeerTask task, long delayNanos) {
		return this.wheel.schedule(task, delayNanos, TimeUnit.NANOSECONDS);
	}

	@Override
	public long nanoTime() {
		return this.wheel.nanoTime();
	}

	@Override
	public Object scheduleFrom(PeerTask task, long now, long delayNanos) {
		return this.wheel.scheduleAt(task, now + delayNanos);
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
	public Object resetFrom(Object timer, PeerTask task, long now, long delayNanos) {
		return ((TimerHandle) timer).rescheduleAt(now + delayNanos) ? timer : scheduleFrom(task, now, delayNanos);
	}

	@Override
	public void close() {
		this.wheel.close();
	}

}

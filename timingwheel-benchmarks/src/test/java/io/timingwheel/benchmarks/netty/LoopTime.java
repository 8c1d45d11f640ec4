package io.timingwheel.benchmarks.netty;

import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.FastThreadLocal;
import io.timingwheel.TimingWheel;

/**
 * The time of an event loop's turn. The first handler that asks in a turn reads the
 * clock. Only the thread of the loop uses an instance.
 */
final class LoopTime {

	private static final FastThreadLocal<LoopTime> OF_LOOP = new FastThreadLocal<>();

	private final TimingWheel wheel;

	private boolean read;

	private long nanoTime;

	private LoopTime(TimingWheel wheel) {
		this.wheel = wheel;
	}

	static LoopTime of(TimingWheel wheel) {
		LoopTime time = OF_LOOP.get();
		if (time == null || time.wheel != wheel) {
			time = new LoopTime(wheel);
			OF_LOOP.set(time);
		}
		return time;
	}

	long nanoTime(EventExecutor loop) {
		if (!this.read) {
			this.nanoTime = this.wheel.nanoTime();
			this.read = true;
			// The loop runs this after the events of the turn.
			loop.execute(() -> this.read = false);
		}
		return this.nanoTime;
	}

}

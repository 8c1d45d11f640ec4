package io.timingwheel.test;

import io.timingwheel.TimingWheel;
import io.timingwheel.spring.durable.support.NodeTurns;

/**
 * The turns of the node that runs the durable tasks. They have a wheel of their own, so
 * that the application's wheel shows only the application's timers.
 */
final class VirtualNode implements AutoCloseable {

	private final TimingWheel wheel;

	private final NodeTurns turns;

	VirtualNode(VirtualClock clock, InjectedFaults faults) {
		this.wheel = TimingWheel.builder(Runnable::run)
			.timeSource(clock.timeSource())
			.tick(VirtualClock.TICK)
			.shards(1)
			.build();
		this.turns = NodeTurns.onWheel(this.wheel, faults);
	}

	TimingWheel wheel() {
		return this.wheel;
	}

	NodeTurns turns() {
		return this.turns;
	}

	@Override
	public void close() {
		this.wheel.close();
	}

}

package io.timingwheel;

import java.util.List;
import java.util.concurrent.TimeUnit;

/** A race of two threads: one advances the time, the other acts on a timer. */
abstract class TimerRace extends ManualClockRace {

	final TimerHandle neighbour;

	final TimerHandle timer;

	final TimerHandle otherNeighbour;

	private final long by;

	boolean done;

	TimerRace(boolean direct, long delay, long passed, long by) {
		this.neighbour = this.wheel.schedule(() -> {
		}, delay, TimeUnit.MILLISECONDS);
		Runnable task = task();
		this.timer = this.wheel.schedule(direct ? (DirectTask) task::run : task, delay, TimeUnit.MILLISECONDS);
		this.otherNeighbour = this.wheel.schedule(() -> {
		}, delay, TimeUnit.MILLISECONDS);
		this.by = by;
		advance(passed);
	}

	@Override
	public List<Runnable> threads() {
		return List.of(() -> advance(this.by), () -> this.done = act());
	}

	abstract boolean act();

}

package io.timingwheel.spring.durable.node;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

import io.timingwheel.DirectTask;
import io.timingwheel.TimerHandle;
import io.timingwheel.TimingWheel;
import org.jspecify.annotations.Nullable;

/**
 * Loops without threads: each round is a timer, which the thread that moves the time
 * runs. A round that waits may be woken, and a round that sleeps waits for its time.
 */
final class WheelLoops implements NodeLoop.Factory {

	private final TimingWheel wheel;

	private final List<WheelLoop> loops = new ArrayList<>();

	WheelLoops(TimingWheel wheel) {
		this.wheel = wheel;
	}

	@Override
	public NodeLoop loop(String name, Runnable round) {
		WheelLoop loop = new WheelLoop(round);
		this.loops.add(loop);
		return loop;
	}

	@Override
	public void flush() {
		while (this.loops.stream().anyMatch(WheelLoop::flush)) {
			// A round may have woken other loops.
		}
	}

	private final class WheelLoop implements NodeLoop, DirectTask {

		private final Runnable round;

		private @Nullable TimerHandle timer;

		private boolean started;

		private boolean running;

		private boolean woken;

		/** How long no wake-up cuts the wait, and how long it lasts. */
		private long rest;

		private long pause;

		WheelLoop(Runnable round) {
			this.round = round;
		}

		@Override
		public void start() {
			this.started = true;
			schedule(0);
		}

		@Override
		public void run() {
			this.running = true;
			this.woken = false;
			this.rest = 0;
			this.pause = 0;
			try {
				this.round.run();
			}
			catch (RuntimeException | Error ex) {
				sleep(TimeUnit.SECONDS.toNanos(1));
			}
			this.running = false;
			schedule((this.woken && this.rest < Long.MAX_VALUE) ? this.rest : this.pause);
		}

		private void schedule(long nanos) {
			if (this.timer != null) {
				this.timer.cancel();
				this.timer = null;
			}
			if (this.started && nanos < Long.MAX_VALUE) {
				try {
					this.timer = WheelLoops.this.wheel.schedule(this, nanos, TimeUnit.NANOSECONDS);
				}
				catch (RejectedExecutionException ex) {
					// A body of an earlier test has ended after the wheel of that test.
				}
			}
		}

		private boolean flush() {
			boolean due = this.timer != null && this.timer.remaining(TimeUnit.NANOSECONDS) <= 0 && this.timer.cancel();
			if (due) {
				run();
			}
			return due;
		}

		@Override
		public void await(long restNanos, long nanos) {
			this.rest = restNanos;
			this.pause = Math.max(restNanos, nanos);
		}

		@Override
		public void sleep(long nanos) {
			this.rest = Long.MAX_VALUE;
			this.pause = nanos;
		}

		/** During a round, this is for the wait after it. */
		@Override
		public void wake() {
			this.woken = true;
			if (!this.running && this.rest < Long.MAX_VALUE) {
				schedule(0);
			}
		}

		@Override
		public void stop(Duration period) {
			this.started = false;
			schedule(0);
		}

	}

}

package io.timingwheel.spring.durable.node;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

import io.timingwheel.DirectTask;
import io.timingwheel.TimerHandle;
import io.timingwheel.TimingWheel;

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
		boolean worked = true;
		while (worked) {
			worked = false;
			for (WheelLoop loop : this.loops) {
				worked |= loop.flush();
			}
		}
	}

	private final class WheelLoop implements NodeLoop, DirectTask {

		private final Runnable round;

		private TimerHandle timer;

		private boolean started;

		private boolean running;

		private boolean woken;

		private boolean sleeping;

		private boolean stopped;

		private long pause;

		private long rest;

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
			if (this.stopped) {
				return;
			}
			this.running = true;
			this.woken = false;
			this.sleeping = false;
			this.pause = 0;
			this.rest = 0;
			try {
				this.round.run();
			}
			catch (RuntimeException | Error ex) {
				sleep(TimeUnit.SECONDS.toNanos(1));
			}
			this.running = false;
			schedule((this.woken && !this.sleeping) ? this.rest : this.pause);
		}

		private void schedule(long nanos) {
			if (this.timer != null) {
				this.timer.cancel();
			}
			this.timer = null;
			if (!this.stopped && nanos < Long.MAX_VALUE) {
				try {
					this.timer = WheelLoops.this.wheel.schedule(this, nanos, TimeUnit.NANOSECONDS);
				}
				catch (RejectedExecutionException ex) {
					// A body of an earlier test has ended after the wheel of that test.
				}
			}
		}

		private boolean flush() {
			if (this.timer == null || this.timer.remaining(TimeUnit.NANOSECONDS) > 0 || !this.timer.cancel()) {
				return false;
			}
			run();
			return true;
		}

		@Override
		public void await(long restNanos, long nanos) {
			this.rest = restNanos;
			this.pause = Math.max(restNanos, nanos);
		}

		@Override
		public void sleep(long nanos) {
			this.pause = nanos;
			this.sleeping = true;
		}

		@Override
		public void wake() {
			if (this.running) {
				this.woken = true;
			}
			else if (this.started && !this.sleeping) {
				schedule(0);
			}
		}

		@Override
		public void stop() {
			this.stopped = true;
			schedule(Long.MAX_VALUE);
		}

		@Override
		public void join(Duration period) {
		}

	}

}

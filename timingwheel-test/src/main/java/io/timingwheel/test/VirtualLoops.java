package io.timingwheel.test;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

import io.timingwheel.DirectTask;
import io.timingwheel.TimerHandle;
import io.timingwheel.TimingWheel;
import io.timingwheel.spring.durable.node.NodeLoop;
import io.timingwheel.spring.durable.node.NodeSettings;
import io.timingwheel.spring.task.internal.Backoff;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * The loops of the node that runs the durable tasks. Each round is a timer, so the thread
 * that moves the time runs the rounds, one after another, and no round waits. The loops
 * have a wheel of their own, so that the application's wheel shows only the application's
 * timers.
 *
 * <p>
 * The node claims one task at a time and none before it is due. A body can therefore
 * still cancel or replace what is due next, and the order of the runs is the order of the
 * due times.
 */
final class VirtualLoops implements NodeLoop.Factory, AutoCloseable {

	private static final Log logger = LogFactory.getLog(VirtualLoops.class);

	private static final long FOREVER = Long.MAX_VALUE;

	/** The loop that claims tasks. */
	private static final String POLLER = "timing-wheel-poller";

	private final TimingWheel wheel;

	private final List<Loop> loops = new CopyOnWriteArrayList<>();

	VirtualLoops(VirtualClock clock) {
		this.wheel = TimingWheel.builder(Runnable::run)
			.timeSource(clock.timeSource())
			.tick(VirtualClock.TICK)
			.shards(1)
			.build();
	}

	TimingWheel wheel() {
		return this.wheel;
	}

	@Override
	public NodeLoop loop(String name, Runnable round) {
		this.loops.removeIf(Loop::isStopped);
		Loop loop = new Loop(round, name.equals(POLLER));
		this.loops.add(loop);
		return loop;
	}

	/**
	 * The backoff does not vary, and dead tasks stay.
	 */
	@Override
	public NodeSettings settings(NodeSettings settings) {
		Backoff backoff = settings.backoff();
		return new NodeSettings(settings.nodeId(), settings.lease(), Duration.ZERO, settings.pollInterval(), 1,
				settings.maxInFlight(), settings.maxAttempts(), settings.maxLostDeliveries(),
				new Backoff(backoff.initial(), backoff.multiplier(), backoff.max(), 0), settings.maxPayloadBytes(),
				null);
	}

	@Override
	public boolean polls() {
		return false;
	}

	@Override
	public void flush() {
		flush(null);
	}

	private void flush(@Nullable Loop last) {
		boolean worked = true;
		while (worked) {
			worked = false;
			for (Loop loop : this.loops) {
				worked |= loop != last && loop.flush();
			}
		}
	}

	/**
	 * Lets each part of the node have a turn when the time is moved next. The store may
	 * have changed, or may answer again.
	 */
	void rouse() {
		this.loops.forEach(Loop::rouse);
	}

	@Override
	public void close() {
		this.wheel.close();
	}

	/**
	 * The loop of one part of the node. Its monitor guards its state.
	 */
	private final class Loop implements NodeLoop, DirectTask {

		private final Runnable round;

		/**
		 * Whether the other loops that are due come first, so that a claim sees what they
		 * have changed, and needs no other claim after it.
		 */
		private final boolean last;

		/** The timer of the next round. */
		private @Nullable TimerHandle timer;

		private boolean started;

		private boolean running;

		private boolean woken;

		/** Whether the loop waits until the time is moved again. */
		private boolean asleep;

		private boolean stopped;

		private long pauseNanos;

		Loop(Runnable round, boolean last) {
			this.round = round;
			this.last = last;
		}

		@Override
		public synchronized void start() {
			this.started = true;
			scheduleIn(0);
		}

		@Override
		public void run() {
			if (this.last) {
				VirtualLoops.this.flush(this);
			}
			if (!begin()) {
				return;
			}
			// The thread may have been interrupted for another call. The flag would break
			// off the calls of this round.
			boolean interrupted = Thread.interrupted();
			try {
				this.round.run();
			}
			catch (Throwable ex) {
				logger.error("Unexpected error; the loop goes on when the time is moved again", ex);
				sleep(FOREVER);
			}
			finally {
				if (interrupted) {
					Thread.currentThread().interrupt();
				}
			}
			if (end()) {
				// The round may have changed the store.
				VirtualLoops.this.loops.forEach(Loop::wake);
			}
		}

		private synchronized boolean begin() {
			if (this.stopped || this.running) {
				return false;
			}
			cancelTimer();
			this.running = true;
			this.woken = false;
			this.pauseNanos = 0;
			return true;
		}

		/**
		 * Ends a round.
		 * @return whether the round did some work
		 */
		private synchronized boolean end() {
			this.running = false;
			if (!this.asleep) {
				scheduleIn(this.woken ? 0 : this.pauseNanos);
			}
			return this.pauseNanos == 0;
		}

		private void scheduleIn(long nanos) {
			cancelTimer();
			if (nanos < FOREVER && !this.stopped) {
				this.timer = VirtualLoops.this.wheel.schedule(this, nanos, TimeUnit.NANOSECONDS);
			}
		}

		private void cancelTimer() {
			if (this.timer != null) {
				this.timer.cancel();
				this.timer = null;
			}
		}

		@Override
		public synchronized void await(long restNanos, long nanos) {
			this.pauseNanos = Math.max(0, nanos);
		}

		/**
		 * A retry would most likely fail again, since no real time passes in which the
		 * cause could go away.
		 */
		@Override
		public synchronized void sleep(long nanos) {
			this.pauseNanos = FOREVER;
			this.asleep = true;
		}

		@Override
		public synchronized void wake() {
			if (this.running) {
				this.woken = true;
			}
			else if (this.started && !this.asleep) {
				scheduleIn(0);
			}
		}

		/**
		 * Wakes the loop even if it sleeps.
		 */
		synchronized void rouse() {
			this.asleep = false;
			wake();
		}

		/**
		 * Runs a round at once on the current thread if one is due.
		 * @return whether there was a round
		 */
		boolean flush() {
			synchronized (this) {
				if (this.timer == null || this.timer.remaining(TimeUnit.NANOSECONDS) > 0) {
					return false;
				}
			}
			run();
			return true;
		}

		@Override
		public synchronized boolean isStopped() {
			return this.stopped;
		}

		@Override
		public synchronized void stop() {
			this.stopped = true;
			cancelTimer();
		}

		@Override
		public void join(Duration period) {
			// A round that runs is one of the calling thread.
		}

	}

}

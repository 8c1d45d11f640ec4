package io.timingwheel.test;

import java.time.Duration;
import java.util.Comparator;
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
 * The loops of the node that runs the durable tasks. The thread that moves the time runs
 * the rounds, one after another, and no round waits. The loops have a wheel of their own,
 * so that the application's wheel shows only the application's timers.
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

	/** The loops, the poller last. */
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
		Loop loop = new Loop(round, name.equals(POLLER));
		this.loops.add(loop);
		this.loops.sort(Comparator.comparing((each) -> each.claims));
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

	/**
	 * Runs the rounds that are due. A claim comes after all others, so that it sees what
	 * they have changed.
	 */
	@Override
	public void flush() {
		boolean worked = true;
		while (worked) {
			worked = this.loops.stream().anyMatch(Loop::runIfDue);
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

		private final boolean claims;

		/** The timer of the next round. */
		private @Nullable TimerHandle timer;

		private long dueAt;

		private boolean active;

		private boolean running;

		private boolean woken;

		/** Whether the loop waits until the time is moved again. */
		private boolean asleep;

		private long pauseNanos;

		Loop(Runnable round, boolean claims) {
			this.round = round;
			this.claims = claims;
		}

		@Override
		public synchronized void start() {
			this.active = true;
			scheduleIn(0);
		}

		@Override
		public void run() {
			flush();
		}

		/**
		 * Runs a round if one is due.
		 * @return whether there was a round
		 */
		boolean runIfDue() {
			if (!begin()) {
				return false;
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
				VirtualLoops.this.loops.stream().filter((loop) -> loop.claims).forEach(Loop::wake);
			}
			return true;
		}

		private synchronized boolean begin() {
			if (this.running || this.timer == null || VirtualLoops.this.wheel.nanoTime() - this.dueAt < 0) {
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
			if (nanos < FOREVER && this.active) {
				this.dueAt = VirtualLoops.this.wheel.nanoTime() + nanos;
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
			else if (!this.asleep) {
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

		@Override
		public synchronized boolean isStopped() {
			return !this.active;
		}

		@Override
		public synchronized void stop() {
			this.active = false;
			cancelTimer();
		}

		@Override
		public void join(Duration period) {
			// A round that runs is one of the calling thread.
		}

	}

}

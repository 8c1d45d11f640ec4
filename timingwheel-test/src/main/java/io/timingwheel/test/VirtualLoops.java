package io.timingwheel.test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

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

	private static final long NEVER = Long.MAX_VALUE;

	/** The loop that claims tasks. */
	private static final String POLLER = "timing-wheel-poller";

	private final TimingWheel wheel;

	/** The loops, the poller last. The monitor of this object guards their states. */
	private final List<Loop> loops = new ArrayList<>();

	/** The timer of the next round. */
	private @Nullable TimerHandle timer;

	VirtualLoops(VirtualClock clock) {
		this.wheel = TimingWheel.builder(Runnable::run)
			.timeSource(clock.timeSource())
			.tick(VirtualClock.TICK)
			.shards(1)
			.build();
	}

	/**
	 * The time to the next round.
	 */
	@Nullable Duration nextRound() {
		return this.wheel.snapshot().nextExpiry();
	}

	@Override
	public synchronized NodeLoop loop(String name, Runnable round) {
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
		for (Loop loop = begin(); loop != null; loop = begin()) {
			loop.runRound();
			end(loop);
		}
	}

	private synchronized @Nullable Loop begin() {
		long now = this.wheel.nanoTime();
		for (Loop loop : this.loops) {
			if (loop.isWaiting() && loop.dueAt <= now) {
				loop.running = true;
				loop.dueAt = now;
				return loop;
			}
		}
		return null;
	}

	private synchronized void end(Loop loop) {
		loop.running = false;
		if (loop.dueAt <= this.wheel.nanoTime()) {
			// The round did some work, and may have changed the store.
			this.loops.stream().filter((each) -> each.claims).forEach(Loop::wake);
		}
		if (loop.woken) {
			loop.woken = false;
			loop.wake();
		}
		schedule();
	}

	/**
	 * Sets the timer of the next round.
	 */
	private void schedule() {
		if (this.timer != null) {
			this.timer.cancel();
			this.timer = null;
		}
		long next = this.loops.stream().filter(Loop::isWaiting).mapToLong((loop) -> loop.dueAt).min().orElse(NEVER);
		if (next < NEVER) {
			this.timer = this.wheel.scheduleAt((DirectTask) this::flush, next);
		}
	}

	/**
	 * Lets each part of the node have a turn when the time is moved next. The store may
	 * have changed, or may answer again.
	 */
	synchronized void rouse() {
		this.loops.forEach((loop) -> {
			loop.asleep = false;
			loop.wake();
		});
	}

	@Override
	public void close() {
		this.wheel.close();
	}

	/**
	 * The loop of one part of the node.
	 */
	private final class Loop implements NodeLoop {

		private final Runnable round;

		private final boolean claims;

		/** The time of the next round. */
		private long dueAt = NEVER;

		private boolean active;

		private boolean running;

		/** Whether somebody has woken the loop during its round. */
		private boolean woken;

		/** Whether the loop waits until the time is moved again. */
		private boolean asleep;

		Loop(Runnable round, boolean claims) {
			this.round = round;
			this.claims = claims;
		}

		@Override
		public void start() {
			synchronized (VirtualLoops.this) {
				this.active = true;
				wake();
			}
		}

		private boolean isWaiting() {
			return this.active && !this.running;
		}

		private void runRound() {
			// The thread may have been interrupted for another call. The flag would break
			// off the calls of this round.
			boolean interrupted = Thread.interrupted();
			try {
				this.round.run();
			}
			catch (Throwable ex) {
				logger.error("Unexpected error; the loop goes on when the time is moved again", ex);
				sleep(NEVER);
			}
			finally {
				if (interrupted) {
					Thread.currentThread().interrupt();
				}
			}
		}

		@Override
		public void await(long restNanos, long nanos) {
			synchronized (VirtualLoops.this) {
				long now = VirtualLoops.this.wheel.nanoTime();
				this.dueAt = (nanos < NEVER - now) ? now + Math.max(0, nanos) : NEVER;
			}
		}

		/**
		 * A retry would most likely fail again, since no real time passes in which the
		 * cause could go away.
		 */
		@Override
		public void sleep(long nanos) {
			synchronized (VirtualLoops.this) {
				this.dueAt = NEVER;
				this.asleep = true;
			}
		}

		@Override
		public void wake() {
			synchronized (VirtualLoops.this) {
				if (this.running) {
					this.woken = true;
				}
				else if (this.active && !this.asleep) {
					this.dueAt = VirtualLoops.this.wheel.nanoTime();
					schedule();
				}
			}
		}

		@Override
		public boolean isStopped() {
			synchronized (VirtualLoops.this) {
				return !this.active;
			}
		}

		@Override
		public void stop() {
			synchronized (VirtualLoops.this) {
				this.active = false;
				schedule();
			}
		}

		@Override
		public void join(Duration period) {
			// A round that runs is one of the calling thread.
		}

	}

}

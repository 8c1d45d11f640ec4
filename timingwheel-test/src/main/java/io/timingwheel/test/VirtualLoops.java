package io.timingwheel.test;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

import io.timingwheel.DirectTask;
import io.timingwheel.TimerHandle;
import io.timingwheel.TimingWheel;
import io.timingwheel.spring.durable.node.DurableNode.Settings;
import io.timingwheel.spring.durable.node.NodeLoop;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * The loops of the node. The thread that moves the time runs their rounds, one after
 * another. Their wheel is not that of the application, which shows only the application's
 * timers.
 */
final class VirtualLoops implements NodeLoop.Factory {

	private static final Log logger = LogFactory.getLog(VirtualLoops.class);

	private static final long NEVER = Long.MAX_VALUE;

	private final TimingWheel wheel;

	private final List<Loop> loops = new CopyOnWriteArrayList<>();

	private @Nullable TimerHandle timer;

	VirtualLoops(VirtualClock clock) {
		this.wheel = TimingWheel.builder(Runnable::run)
			.timeSource(clock.timeSource())
			.tick(VirtualClock.TICK)
			.shards(1)
			.build();
	}

	@Override
	public NodeLoop loop(String name, Runnable round) {
		return new Loop(round);
	}

	/**
	 * The node claims one task at a time and none before it is due, so that a body can
	 * cancel or replace what is due next. The backoff does not vary, and dead tasks stay.
	 */
	@Override
	public Settings settings(Settings settings) {
		return new Settings(settings.nodeId(), settings.lease(), Duration.ZERO, settings.pollInterval(), 1,
				settings.maxInFlight(), settings.maxAttempts(), settings.maxLostDeliveries(),
				settings.backoff().withoutJitter(), settings.maxPayloadBytes(), null);
	}

	@Override
	public long poll(long nanos) {
		return NEVER;
	}

	/**
	 * Of the rounds that are due the first one runs, until none is. So a claim comes
	 * after the settlements, whose loop starts before.
	 */
	@Override
	public void flush() {
		while (this.loops.stream().anyMatch(Loop::run)) {
			// The round may have woken others.
		}
		setTimer();
	}

	private synchronized void setTimer() {
		if (this.timer != null) {
			this.timer.cancel();
		}
		long next = this.loops.stream().mapToLong((loop) -> loop.dueAt.get()).min().orElse(NEVER);
		this.timer = (next < NEVER) ? this.wheel.scheduleAt((DirectTask) this::flush, next) : null;
	}

	@Nullable Duration nextRound() {
		return this.wheel.snapshot().nextExpiry();
	}

	/**
	 * Lets each loop have a round when the time is moved next. The store may have
	 * changed, or may answer again.
	 */
	void wakeAll() {
		this.loops.forEach(Loop::wake);
	}

	private final class Loop implements NodeLoop {

		private final Runnable round;

		private final AtomicLong dueAt = new AtomicLong(NEVER);

		private final AtomicBoolean running = new AtomicBoolean();

		Loop(Runnable round) {
			this.round = round;
		}

		private boolean run() {
			if (this.dueAt.get() > VirtualLoops.this.wheel.nanoTime() || !this.running.compareAndSet(false, true)) {
				return false;
			}
			// An interrupt of the test would break off the calls of this round.
			boolean interrupted = Thread.interrupted();
			try {
				this.dueAt.set(NEVER);
				this.round.run();
			}
			catch (Throwable ex) {
				logger.error("Unexpected error; the loop goes on when the time is moved again", ex);
			}
			finally {
				this.running.set(false);
				if (interrupted) {
					Thread.currentThread().interrupt();
				}
			}
			return true;
		}

		@Override
		public void start() {
			VirtualLoops.this.loops.add(this);
			wake();
		}

		/** A round that somebody has woken meanwhile follows at once. */
		@Override
		public void await(long restNanos, long nanos) {
			long now = VirtualLoops.this.wheel.nanoTime();
			this.dueAt.accumulateAndGet((nanos < NEVER - now) ? now + Math.max(0, nanos) : NEVER, Math::min);
		}

		/** No real time passes in which the cause of a failure could go away. */
		@Override
		public void sleep(long nanos) {
			this.dueAt.set(NEVER);
		}

		@Override
		public void wake() {
			this.dueAt.accumulateAndGet(VirtualLoops.this.wheel.nanoTime(), Math::min);
			setTimer();
		}

		/** A round that runs is one of the calling thread. */
		@Override
		public void stop(Duration period) {
			VirtualLoops.this.loops.remove(this);
			setTimer();
		}

	}

}

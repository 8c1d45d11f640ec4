package io.timingwheel.spring.durable.support;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import io.timingwheel.DirectTask;
import io.timingwheel.TimerHandle;
import io.timingwheel.TimingWheel;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * A loop without a thread, for virtual time. Each round is a timer, so the thread that
 * moves the time runs the rounds, and no round waits.
 */
final class WheelLoop implements StoreLoop, DirectTask {

	private static final Log logger = LogFactory.getLog(WheelLoop.class);

	private static final long FOREVER = Long.MAX_VALUE;

	private final TimingWheel wheel;

	private final Runnable round;

	private final Runnable onWork;

	private final boolean restsAfterFailures;

	/** The timer of the next round, guarded by this as all fields below. */
	private @Nullable TimerHandle timer;

	/** Whether the next round is due now. */
	private boolean due;

	private boolean running;

	private boolean woken;

	private boolean asleep;

	private boolean started;

	private boolean stopped;

	private long pauseNanos;

	/**
	 * Creates a loop that has not started.
	 * @param wheel has the timers
	 * @param round one round
	 * @param onWork called after each round that did not wait
	 * @param restsAfterFailures whether the loop rests after a failure until the time is
	 * moved again; otherwise it waits as after any round
	 */
	WheelLoop(TimingWheel wheel, Runnable round, Runnable onWork, boolean restsAfterFailures) {
		this.wheel = wheel;
		this.round = round;
		this.onWork = onWork;
		this.restsAfterFailures = restsAfterFailures;
	}

	@Override
	public synchronized void start() {
		this.started = true;
		scheduleIn(0);
	}

	@Override
	public void run() {
		if (!begin()) {
			return;
		}
		// The thread may have been interrupted for another call. The flag would break off
		// the calls of this round.
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
			this.onWork.run();
		}
	}

	private synchronized boolean begin() {
		if (this.stopped || this.running || !this.due) {
			return false;
		}
		this.timer = null;
		this.due = false;
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
		boolean worked = this.pauseNanos == 0;
		if (!this.asleep) {
			scheduleIn(this.woken ? 0 : this.pauseNanos);
		}
		return worked;
	}

	private void scheduleIn(long nanos) {
		cancelTimer();
		this.due = nanos < FOREVER;
		if (this.due && !this.stopped) {
			this.timer = this.wheel.schedule(this, nanos, TimeUnit.NANOSECONDS);
		}
	}

	@Override
	public synchronized void await(long nanos) {
		this.pauseNanos = Math.max(0, nanos);
	}

	/**
	 * With virtual time, lets the loop rest until the time is moved again. A retry would
	 * most likely fail again, since no real time passes in which the cause could go away.
	 */
	@Override
	public synchronized void sleep(long nanos) {
		if (this.restsAfterFailures) {
			this.pauseNanos = FOREVER;
			this.asleep = true;
		}
		else {
			await(nanos);
		}
	}

	@Override
	public synchronized void wake() {
		if (this.running) {
			this.woken = true;
		}
		else if (this.started && !this.asleep && !this.stopped) {
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
	 * Runs a round at once on the current thread if somebody has woken the loop.
	 * @return whether there was a round
	 */
	boolean flush() {
		synchronized (this) {
			TimerHandle timer = this.timer;
			if (timer == null || timer.remaining(TimeUnit.NANOSECONDS) > 0 || !timer.cancel()) {
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

	private void cancelTimer() {
		if (this.timer != null) {
			this.timer.cancel();
			this.timer = null;
		}
	}

	@Override
	public void join(Duration period) {
	}

}

package io.timingwheel;

import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

import org.jspecify.annotations.Nullable;

/**
 * Serves the shards in the order of their ticks, and hands expired timers over. A
 * {@link DriverThread} or a {@link ManualTimeSource} calls {@link #turn} whenever the
 * tick of {@link #nextWake} has come.
 */
final class Driver {

	private static final long LAG_TO_WARN = TimeUnit.SECONDS.toNanos(1);

	private final WheelClock time;

	private final Shards shards;

	private final WaitingTimers waiting;

	private final Refusals refusals;

	private final HandOver handOver;

	/** Held during a turn, so that {@code stop} can wait for the batch in hand. */
	private final ReentrantLock turnLock = new ReentrantLock();

	/** The shard whose batch is in hand. */
	private volatile @Nullable Shard shardInHand;

	/** The tick of the batch in hand, {@link Wheel#NEVER} if there is none. */
	private volatile long tickInHand = Wheel.NEVER;

	private volatile long maxLag;

	private final RateLimitedWarning lagWarning = new RateLimitedWarning();

	private volatile boolean stopped;

	Driver(WheelClock time, Shards shards, Executor executor, TaskErrors errors, WaitingTimers waiting,
			boolean ownThread) {
		this.time = time;
		this.shards = shards;
		this.waiting = waiting;
		this.refusals = new Refusals(time, waiting);
		this.handOver = new HandOver(executor, errors, this.refusals, ownThread);
	}

	/**
	 * The first tick at which there may be something to do, {@link Wheel#NEVER} if there
	 * is nothing. Only the thread that calls {@link #turn} calls this.
	 */
	long nextWake() {
		if (this.stopped) {
			return Wheel.NEVER;
		}
		Shard shard = this.shardInHand;
		if (shard != null && !shard.batch().isEmpty()) {
			// A turn that has failed has not finished its batch.
			return shard.batch().tick();
		}
		return Math.min(this.refusals.nextRetry(), this.shards.nextWake());
	}

	/**
	 * The first tick at which a slot may begin.
	 */
	long nextDue() {
		return this.stopped ? Wheel.NEVER : this.shards.nextDue();
	}

	/**
	 * The nanoseconds until {@link #nextWake}, {@link Long#MAX_VALUE} if they exceed the
	 * range.
	 */
	long nanosUntilNextWake() {
		long nanos = this.time.nanosAt(nextWake());
		return (nanos == Long.MAX_VALUE) ? Long.MAX_VALUE : nanos - this.time.elapsed();
	}

	/**
	 * Takes one bounded step: tries again some timers that an executor has refused, and
	 * hands over a chunk of the first slot that has begun, or cascades some timers of a
	 * slot. A turn that fails leaves everything so that the next turn can continue.
	 */
	void turn() {
		this.turnLock.lock();
		try {
			if (this.stopped) {
				return;
			}
			handOverBatch();
			long now = this.time.now();
			this.handOver.retry(now);
			if (this.stopped) {
				return;
			}
			Shard shard = this.shards.nextToServe(now);
			this.shardInHand = shard;
			Batch batch = shard.advance(now);
			if (!batch.isEmpty()) {
				this.tickInHand = batch.tick();
				lagsBy(-this.time.nanosUntil(batch.tick()));
				handOverBatch();
			}
		}
		finally {
			this.handOver.forgetClass();
			this.turnLock.unlock();
		}
	}

	/**
	 * Records how late a batch is, and warns if it is very late.
	 */
	private void lagsBy(long nanos) {
		this.maxLag = Math.max(this.maxLag, nanos);
		if (nanos > LAG_TO_WARN) {
			this.lagWarning.log("The timing wheel lags: it hands tasks over " + TimeUnit.NANOSECONDS.toMillis(nanos)
					+ " ms after their deadlines. Its thread has waited for an"
					+ " executor whose execute method blocks, has run a task itself, or has had no processor. Give such"
					+ " tasks to an executor with threads and a queue, or the machine more processors", null);
		}
	}

	private void handOverBatch() {
		Shard shard = this.shardInHand;
		if (shard != null) {
			Batch batch = shard.batch();
			for (Timer timer = batch.poll(); timer != null; timer = batch.poll()) {
				this.handOver.handOver(timer, batch, shard);
			}
			if (!batch.isEmpty()) {
				shard.putBackKept();
			}
		}
		this.tickInHand = Wheel.NEVER;
	}

	/**
	 * Stops the driver for good, after the batch in hand, and collects all tasks that
	 * were not handed over. If a task or an executor calls this on the driver's thread,
	 * this also collects the rest of the batch, and the current task unless it has begun.
	 * If the wait takes too long, this also collects the rest of the batch, but not the
	 * current task.
	 * @param tasks gets the tasks. If this method fails, for example without memory,
	 * another call collects the others
	 * @param waitNanos how long to wait for the batch in hand
	 */
	void stop(List<Runnable> tasks, long waitNanos) {
		this.stopped = true;
		boolean locked = lockTurn(waitNanos);
		try {
			Shard inHand = this.shardInHand;
			if (locked) {
				this.handOver.giveBackTriedAgain(tasks);
				if (inHand != null) {
					giveBackBatch(inHand, tasks);
				}
			}
			this.shards.drainTo(tasks, locked ? null : inHand);
			drainWaiting(tasks);
		}
		catch (Throwable ex) {
			this.shards.drainFailed();
			throw ex;
		}
		finally {
			if (locked) {
				this.turnLock.unlock();
			}
		}
	}

	/**
	 * Waits until no turn is in progress.
	 * @return false if the wait has taken too long
	 */
	private boolean lockTurn(long waitNanos) {
		boolean interrupted = false;
		long end = System.nanoTime() + waitNanos;
		try {
			while (true) {
				try {
					return this.turnLock.tryLock(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS);
				}
				catch (InterruptedException ex) {
					interrupted = true;
				}
			}
		}
		finally {
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

	private static void giveBackBatch(Shard shard, List<Runnable> tasks) {
		Batch batch = shard.batch();
		Timer current = batch.current();
		if (current != null) {
			shard.giveBack(current, tasks);
		}
		batch.drainTo((timer) -> shard.giveBack(timer, tasks));
	}

	private void drainWaiting(List<Runnable> tasks) {
		List<Timer> timers;
		this.waiting.lock();
		try {
			timers = this.waiting.all();
		}
		finally {
			this.waiting.unlock();
		}
		for (Timer timer : timers) {
			Shard shard = timer.shard();
			if (shard != null) {
				shard.drainWaiting(timer, tasks);
			}
		}
	}

	/**
	 * Records that the driver's thread has ended. If nobody has stopped the wheel, the
	 * wheel rejects timers from now on and counts as stopped, and {@code stop} still
	 * returns the tasks of the pending timers.
	 */
	void threadEnded() {
		if (!this.stopped) {
			this.stopped = true;
			this.shards.close();
		}
	}

	/**
	 * The tick of the batch in hand, otherwise the first tick at which a slot may begin
	 * or an executor that has refused is tried again.
	 */
	long nextHandOver() {
		long retry = this.stopped ? Wheel.NEVER : this.refusals.nextRetry();
		return Math.min(this.tickInHand, Math.min(nextDue(), retry));
	}

	boolean isStopped() {
		return this.stopped;
	}

	/**
	 * How many hand-overs executors have refused.
	 */
	long refused() {
		return this.refusals.count();
	}

	long lagNanos() {
		long tick = nextHandOver();
		return (tick == Wheel.NEVER) ? 0 : Math.max(0, -this.time.nanosUntil(tick));
	}

	long maxLagNanos() {
		return this.maxLag;
	}

}

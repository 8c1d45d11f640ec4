package io.timingwheel;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.ReentrantLock;

import org.jspecify.annotations.Nullable;

/**
 * Serves the shards in the order of their ticks and hands expired timers over. Who drives
 * it, a thread of its own or a {@link ManualTimeSource}, calls {@link #turn} whenever
 * {@link #nextWake} has come.
 */
final class Driver {

	private final WheelClock time;

	private final Shards shards;

	private final Executor executor;

	private final TaskErrors errors;

	private final RefusalBackoff backoff = new RefusalBackoff();

	/** Held during a turn, so that {@code stop} can wait for the batch in hand. */
	private final ReentrantLock turn = new ReentrantLock();

	private final Batch batch = new Batch();

	private @Nullable Shard shardInHand;

	/** The tick of the batch in hand. */
	private volatile long tickInHand = Wheel.NEVER;

	/**
	 * The class of the last task, and what it is: to find that out anew costs as much as
	 * all the rest of a hand-over.
	 */
	private @Nullable Class<?> knownClass;

	private boolean direct;

	private boolean routed;

	private volatile long maxLag;

	private volatile long rejected;

	private volatile boolean stopped;

	Driver(WheelClock time, Shards shards, Executor executor, TaskErrors errors) {
		this.time = time;
		this.shards = shards;
		this.executor = executor;
		this.errors = errors;
	}

	/**
	 * The first tick at which there may be something to do, {@link Wheel#NEVER} if there
	 * is nothing. Called by who drives only.
	 */
	long nextWake() {
		if (this.stopped) {
			return Wheel.NEVER;
		}
		// A thread that died may have left a batch behind.
		return this.batch.isEmpty() ? this.shards.nextWake() : this.batch.tick();
	}

	/**
	 * The first tick at which something may be due.
	 */
	long nextDue() {
		return this.stopped ? Wheel.NEVER : this.shards.nextDue();
	}

	/**
	 * The nanoseconds until {@link #nextWake}; {@link Long#MAX_VALUE} if it is beyond the
	 * end of time.
	 */
	long nanosUntilNextWake() {
		long nanos = this.time.nanosAt(nextWake());
		return (nanos == Long.MAX_VALUE) ? Long.MAX_VALUE : nanos - this.time.elapsed();
	}

	/**
	 * Serves the first slot that is due, or prepares one that will be; a bounded number
	 * of its timers at once.
	 */
	void turn() {
		this.turn.lock();
		try {
			if (this.stopped) {
				return;
			}
			handOverBatch();
			long now = this.time.now();
			Shard shard = this.shards.first(now);
			this.shardInHand = shard;
			shard.advance(now, this.batch);
			if (!this.batch.isEmpty()) {
				long tick = this.batch.tick();
				this.tickInHand = tick;
				this.maxLag = Math.max(this.maxLag, -this.time.nanosUntil(tick));
				handOverBatch();
			}
		}
		finally {
			this.turn.unlock();
		}
	}

	private void handOverBatch() {
		Shard shard = this.shardInHand;
		if (shard != null) {
			for (Timer timer = this.batch.poll(); timer != null; timer = this.batch.poll()) {
				handOver(timer, shard);
			}
			if (!this.batch.isEmpty()) {
				shard.placeKept(this.batch);
			}
		}
		this.tickInHand = Wheel.NEVER;
		this.backoff.turnEnded();
	}

	private void handOver(Timer timer, Shard shard) {
		Runnable task = timer.task();
		if (task == null) {
			// Cancelled in the meantime.
			return;
		}
		if (task.getClass() != this.knownClass) {
			learn(task);
		}
		try {
			if (!(this.direct ? timer.runIfDue(this.batch.tick()) : execute(timer, task))) {
				if (timer.isPending()) {
					this.batch.keep();
				}
				return;
			}
			this.backoff.accepted();
		}
		catch (Throwable ex) {
			if (refused(timer, task, ex)) {
				return;
			}
		}
		// Not if the task or its executor has stopped the wheel, which settles the timer.
		if (this.batch.inHand() != null) {
			shard.handedOver();
		}
	}

	private boolean execute(Timer timer, Runnable task) {
		if (!timer.expire(this.batch.tick())) {
			return false;
		}
		if (this.routed && task instanceof RoutedTask routedTask) {
			routedTask.executor().execute(timer);
		}
		else {
			this.executor.execute(timer);
		}
		return true;
	}

	private void learn(Runnable task) {
		this.direct = task instanceof DirectTask;
		this.routed = task instanceof RoutedTask;
		this.knownClass = task.getClass();
	}

	/**
	 * Makes a timer pending again whose hand-over has failed.
	 * @return false if its task has begun all the same, or stop has returned it
	 */
	private boolean refused(Timer timer, Runnable task, Throwable ex) {
		if (timer.refuse(this.time.deadline(this.time.elapsed(), this.backoff.refused(ex)))) {
			this.batch.keep();
			this.rejected++;
			return true;
		}
		if (!timer.isReturned()) {
			this.errors.report(task, ex);
		}
		return false;
	}

	/**
	 * Ends the driver's work for good, after the batch in hand, and collects all tasks
	 * that were not handed over. From a task or an executor that runs on the driver the
	 * rest of its batch is collected, too, and the timer in hand unless it has begun.
	 */
	List<Runnable> stop() {
		List<Runnable> tasks = new ArrayList<>();
		this.stopped = true;
		this.turn.lock();
		try {
			Shard shard = this.shardInHand;
			if (shard != null) {
				Timer timer = this.batch.inHand();
				if (timer != null && !shard.giveBack(timer, tasks)) {
					shard.handedOver();
				}
				this.batch.drainTo(shard, tasks);
			}
			this.shards.drainTo(tasks);
		}
		finally {
			this.turn.unlock();
		}
		return tasks;
	}

	/**
	 * The tick of the batch in hand, otherwise the first at which something may be due.
	 */
	long nextHandOver() {
		return Math.min(this.tickInHand, nextDue());
	}

	boolean isStopped() {
		return this.stopped;
	}

	long rejected() {
		return this.rejected;
	}

	long lagNanos() {
		long tick = nextHandOver();
		return (tick == Wheel.NEVER) ? 0 : Math.max(0, -this.time.nanosUntil(tick));
	}

	long maxLagNanos() {
		return this.maxLag;
	}

}

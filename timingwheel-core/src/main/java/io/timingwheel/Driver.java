package io.timingwheel;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.ReentrantLock;

import org.jspecify.annotations.Nullable;

/**
 * Serves the shards in the order of their ticks, and hands expired timers over. A
 * {@link DriverThread} or a {@link ManualTimeSource} calls {@link #turn} whenever the
 * tick of {@link #nextWake} has come.
 */
final class Driver {

	private final WheelClock time;

	private final Shards shards;

	private final Executor executor;

	private final TaskErrors errors;

	private final RefusalBackoff backoff = new RefusalBackoff();

	/** Held during a turn, so that {@code stop} can wait for the batch in hand. */
	private final ReentrantLock turnLock = new ReentrantLock();

	/** The shard whose batch is in hand. */
	private @Nullable Shard shardInHand;

	/** The tick of the batch in hand, {@link Wheel#NEVER} if there is none. */
	private volatile long tickInHand = Wheel.NEVER;

	/**
	 * The class of the last task. Another check whether the task is direct or routed
	 * would cost as much as the rest of a hand-over.
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
	 * is nothing. Only the thread that calls {@link #turn} calls this.
	 */
	long nextWake() {
		if (this.stopped) {
			return Wheel.NEVER;
		}
		Shard shard = this.shardInHand;
		if (shard != null && !shard.batch().isEmpty()) {
			// A driver thread that ended with an error has not finished its batch.
			return shard.batch().tick();
		}
		return this.shards.nextWake();
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
	 * Takes one bounded step: hands over a chunk of the first slot that has begun, or
	 * cascades some timers of a slot.
	 */
	void turn() {
		this.turnLock.lock();
		try {
			if (this.stopped) {
				return;
			}
			handOverBatch();
			long now = this.time.now();
			Shard shard = this.shards.nextToServe(now);
			this.shardInHand = shard;
			Batch batch = shard.advance(now);
			if (!batch.isEmpty()) {
				this.tickInHand = batch.tick();
				this.maxLag = Math.max(this.maxLag, -this.time.nanosUntil(batch.tick()));
				handOverBatch();
			}
		}
		finally {
			this.turnLock.unlock();
		}
	}

	private void handOverBatch() {
		Shard shard = this.shardInHand;
		if (shard != null) {
			Batch batch = shard.batch();
			for (Timer timer = batch.poll(); timer != null; timer = batch.poll()) {
				handOver(timer, batch, shard);
			}
			if (!batch.isEmpty()) {
				shard.putBackKept();
			}
		}
		this.tickInHand = Wheel.NEVER;
		// The class would keep its class loader in memory while the wheel is idle.
		this.knownClass = null;
		this.backoff.turnEnded();
	}

	private void handOver(Timer timer, Batch batch, Shard shard) {
		Runnable task = timer.task();
		if (task == null) {
			// Cancelled since the chunk was taken.
			return;
		}
		if (task.getClass() != this.knownClass) {
			learn(task);
		}
		try {
			if (!(this.direct ? timer.runIfDue(batch.tick()) : execute(timer, task, batch.tick()))) {
				if (timer.isPending()) {
					batch.keepCurrent();
				}
				return;
			}
			this.backoff.accepted();
		}
		catch (Throwable ex) {
			if (refused(timer, task, ex, batch)) {
				return;
			}
		}
		// If the task or its executor has stopped the wheel, stop has counted the timer.
		if (batch.current() != null) {
			shard.handedOver();
		}
	}

	private boolean execute(Timer timer, Runnable task, long tick) {
		if (!timer.expire(tick)) {
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
	 * Makes a timer pending again after its hand-over has failed.
	 * @return false if the task has begun nevertheless, or was returned by {@code stop}
	 */
	private boolean refused(Timer timer, Runnable task, Throwable ex, Batch batch) {
		if (timer.refuse(this.time.dueTick(this.time.elapsed(), this.backoff.refused(ex)))) {
			batch.keepCurrent();
			this.rejected++;
			return true;
		}
		if (!timer.isReturned()) {
			this.errors.report(task, ex);
		}
		return false;
	}

	/**
	 * Stops the driver for good, after the batch in hand, and collects all tasks that
	 * were not handed over. If a task or an executor calls this on the driver's thread,
	 * this also collects the rest of the batch, and the current task unless it has begun.
	 */
	List<Runnable> stop() {
		List<Runnable> tasks = new ArrayList<>();
		this.stopped = true;
		this.turnLock.lock();
		try {
			Shard shard = this.shardInHand;
			if (shard != null) {
				Batch batch = shard.batch();
				Timer current = batch.current();
				if (current != null && !shard.giveBack(current, tasks)) {
					shard.handedOver();
				}
				batch.drainTo(shard, tasks);
			}
			this.shards.drainTo(tasks);
		}
		finally {
			this.turnLock.unlock();
		}
		return tasks;
	}

	/**
	 * The tick of the batch in hand, otherwise the first tick at which a slot may begin.
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

package io.timingwheel;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

/**
 * A timer is the entry of a slot, its own handle and what the executor is given. Its
 * position is guarded by the shard's lock, and so are the transitions of {@link #when}
 * that concern it. The others are a compare-and-set of {@code when} alone: the lazy move
 * to later, after which the timer stays where it is until the driver meets it there, the
 * expiry, and the begin. Hence a timer never stands in a slot that begins after
 * {@code when}. A {@link DirectTask} expires and begins at once.
 *
 * <pre>
 *            +--- refused ---+   +-- move
 *            v               |   v   |
 *         pending (when >= 0) ------+
 *          |      |        |
 *       cancel   expire   stop
 *          v      v        v
 *  CANCELLED    FIRED    RETURNED
 *                 |
 *                run
 *                 v
 *               BEGUN
 * </pre>
 */
final class Timer implements TimerHandle, Runnable {

	private static final long FIRED = -1;

	private static final long BEGUN = -2;

	private static final long CANCELLED = -3;

	private static final long RETURNED = -4;

	private static final VarHandle WHEN;
	static {
		try {
			WHEN = MethodHandles.lookup().findVarHandle(Timer.class, "when", long.class);
		}
		catch (ReflectiveOperationException ex) {
			throw new ExceptionInInitializerError(ex);
		}
	}

	/** The deadline's tick while pending, otherwise one of the states above. */
	private volatile long when;

	/** Null once the timer has ended, so that a kept handle retains nothing. */
	private @Nullable Shard shard;

	/** Null once the timer has ended. */
	private @Nullable Runnable task;

	/** Where it stands: the number of its chunk and the index in it. */
	int position;

	Timer(Shard shard, Runnable task, long when) {
		this.shard = shard;
		this.task = task;
		// No fence: the shard's lock publishes the timer.
		WHEN.set(this, when);
	}

	@Override
	public boolean cancel() {
		Shard shard = this.shard;
		return shard != null && this.when >= 0 && shard.cancel(this);
	}

	@Override
	public boolean reschedule(long delay, TimeUnit unit) {
		long nanos = unit.toNanos(delay);
		Shard shard = this.shard;
		return shard != null && this.when >= 0 && shard.reschedule(this, nanos);
	}

	@Override
	public boolean reschedule(Duration delay) {
		return reschedule(TimeUnit.NANOSECONDS.convert(delay), TimeUnit.NANOSECONDS);
	}

	@Override
	public boolean isPending() {
		return this.when >= 0;
	}

	@Override
	public boolean isCancelled() {
		return this.when == CANCELLED;
	}

	@Override
	public long remaining(TimeUnit unit) {
		Shard shard = this.shard;
		long when = this.when;
		long nanos = (shard != null && when >= 0) ? Math.max(0, shard.nanosUntil(when)) : 0;
		return unit.convert(nanos, TimeUnit.NANOSECONDS);
	}

	/**
	 * Runs the task, unless a refusal has made the timer pending again.
	 */
	@Override
	public void run() {
		if (WHEN.compareAndSet(this, FIRED, BEGUN)) {
			execute();
		}
	}

	/**
	 * Runs the task if the deadline is not after the given tick.
	 * @return false if it is, or if the timer is not pending
	 */
	boolean runIfDue(long tick) {
		if (!expire(tick, BEGUN)) {
			return false;
		}
		execute();
		return true;
	}

	private void execute() {
		Shard shard = this.shard;
		Runnable task = this.task;
		if (shard == null || task == null) {
			return;
		}
		this.shard = null;
		this.task = null;
		try {
			task.run();
		}
		catch (Throwable ex) {
			shard.errors().report(task, ex);
		}
	}

	long when() {
		return this.when;
	}

	@Nullable Runnable task() {
		return this.task;
	}

	/**
	 * Moves the deadline; to later without the lock.
	 */
	boolean move(long from, long to) {
		return WHEN.compareAndSet(this, from, to);
	}

	/**
	 * Expires the timer if its deadline is not after the given tick, so that it can be
	 * handed over.
	 * @return false if it is, or if the timer is not pending
	 */
	boolean expire(long tick) {
		return expire(tick, FIRED);
	}

	private boolean expire(long tick, long state) {
		long when = this.when;
		while (when >= 0 && when <= tick) {
			if (WHEN.compareAndSet(this, when, state)) {
				return true;
			}
			when = this.when;
		}
		return false;
	}

	/**
	 * Makes an expired timer pending again whose hand-over was refused.
	 * @return false if the task has begun all the same
	 */
	boolean refuse(long retryAt) {
		return WHEN.compareAndSet(this, FIRED, retryAt);
	}

	boolean endCancelled() {
		long when = this.when;
		while (when >= 0) {
			if (WHEN.compareAndSet(this, when, CANCELLED)) {
				this.task = null;
				this.shard = null;
				return true;
			}
			when = this.when;
		}
		return false;
	}

	boolean isReturned() {
		return this.when == RETURNED;
	}

	/**
	 * Ends a timer that is pending or expired, unless its task has begun.
	 * @return its task, null if there is nothing to return
	 */
	@Nullable Runnable endReturned() {
		long when = this.when;
		while (when >= FIRED) {
			if (WHEN.compareAndSet(this, when, RETURNED)) {
				Runnable task = this.task;
				this.task = null;
				this.shard = null;
				return task;
			}
			when = this.when;
		}
		return null;
	}

	@Override
	public String toString() {
		long when = this.when;
		String state = (when >= 0) ? "pending until tick " + when : (when == FIRED) ? "handed over"
				: (when == BEGUN) ? "fired" : (when == CANCELLED) ? "cancelled" : "returned by stop";
		return "Timer[" + state + "]";
	}

}

package io.timingwheel;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

/**
 * A timer. One object is the entry of a slot, the handle of the timer, and the
 * {@link Runnable} for the executor.
 *
 * <p>
 * The shard's lock guards the position, and all transitions of {@link #state} that change
 * the position. Three transitions do not change the position: the move to a later tick,
 * the expiry, and the begin of the task. Each of them is a compare-and-set without the
 * lock. After a move to a later tick, the timer stays in its old slot until the driver
 * comes to this slot. The slot of a timer therefore never begins after the timer's due
 * tick. A {@link DirectTask} expires and begins in one step.
 *
 * <pre>
 *            +--- refused ---+   +-- move
 *            v               |   v   |
 *         pending (state >= 0) -----+
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

	private static final VarHandle STATE;
	static {
		try {
			STATE = MethodHandles.lookup().findVarHandle(Timer.class, "state", long.class);
		}
		catch (ReflectiveOperationException ex) {
			throw new ExceptionInInitializerError(ex);
		}
	}

	/** The due tick while the timer is pending, otherwise one of the values above. */
	private volatile long state;

	/** Null once the timer has ended, so that a handle retains nothing. */
	private @Nullable Shard shard;

	/** Null once the timer has ended. */
	private @Nullable Runnable task;

	/**
	 * The number of the timer's chunk and the index in the chunk. Negative if the timer
	 * is alone in its slot: the complement of the number of the slot.
	 */
	int position;

	Timer(Shard shard, Runnable task, long dueTick) {
		this.shard = shard;
		this.task = task;
		// No fence: the shard's lock publishes the timer.
		STATE.set(this, dueTick);
	}

	@Override
	public boolean cancel() {
		Shard shard = this.shard;
		return shard != null && this.state >= 0 && shard.cancel(this);
	}

	@Override
	public boolean reschedule(long delay, TimeUnit unit) {
		long nanos = unit.toNanos(delay);
		Shard shard = this.shard;
		return shard != null && this.state >= 0 && shard.reschedule(this, nanos);
	}

	@Override
	public boolean reschedule(Duration delay) {
		return reschedule(TimeUnit.NANOSECONDS.convert(delay), TimeUnit.NANOSECONDS);
	}

	@Override
	public boolean rescheduleAt(long nanoTime) {
		Shard shard = this.shard;
		return shard != null && this.state >= 0 && shard.rescheduleAt(this, nanoTime);
	}

	@Override
	public boolean isPending() {
		return this.state >= 0;
	}

	@Override
	public boolean isCancelled() {
		return this.state == CANCELLED;
	}

	@Override
	public long remaining(TimeUnit unit) {
		Shard shard = this.shard;
		long state = this.state;
		long nanos = (shard != null && state >= 0) ? Math.max(0, shard.nanosUntil(state)) : 0;
		return unit.convert(nanos, TimeUnit.NANOSECONDS);
	}

	/**
	 * Runs the task. Does nothing if a refusal has made the timer pending again, or if
	 * the task was returned by {@code stop}.
	 */
	@Override
	public void run() {
		if (STATE.compareAndSet(this, FIRED, BEGUN)) {
			execute();
		}
	}

	/**
	 * Runs the task if the timer is due at the given tick.
	 * @return false if the timer is due later, or is not pending
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

	/**
	 * The tick at which the timer is due, negative if it is not pending.
	 */
	long dueTick() {
		return this.state;
	}

	/**
	 * The task, null once the timer has ended.
	 */
	@Nullable Runnable task() {
		return this.task;
	}

	/**
	 * Changes the due tick. The caller must hold the lock to change it to an earlier
	 * tick.
	 * @return false if the due tick is no longer the expected one
	 */
	boolean move(long expected, long dueTick) {
		return STATE.compareAndSet(this, expected, dueTick);
	}

	/**
	 * Expires the timer if it is due at the given tick, so that it can be handed over.
	 * @return false if the timer is due later, or is not pending
	 */
	boolean expire(long tick) {
		return expire(tick, FIRED);
	}

	private boolean expire(long tick, long newState) {
		long state = this.state;
		while (state >= 0 && state <= tick) {
			if (STATE.compareAndSet(this, state, newState)) {
				return true;
			}
			state = this.state;
		}
		return false;
	}

	/**
	 * Makes an expired timer pending again, because its executor has refused it.
	 * @return false if the task has begun nevertheless, or was returned by {@code stop}
	 */
	boolean refuse(long retryTick) {
		return STATE.compareAndSet(this, FIRED, retryTick);
	}

	/**
	 * Cancels a pending timer that is in no slot any more, nor in the hand of the driver.
	 * The caller holds the lock. Only a move to later can come at the same time, and it
	 * takes place either before the cancel or not at all. So the cancel needs no
	 * compare-and-set.
	 */
	void endRemoved() {
		STATE.setRelease(this, CANCELLED);
		this.task = null;
		this.shard = null;
	}

	/**
	 * Cancels a pending timer.
	 * @return false if the timer is not pending
	 */
	boolean endCancelled() {
		long state = this.state;
		while (state >= 0) {
			if (STATE.compareAndSet(this, state, CANCELLED)) {
				this.task = null;
				this.shard = null;
				return true;
			}
			state = this.state;
		}
		return false;
	}

	boolean isReturned() {
		return this.state == RETURNED;
	}

	/**
	 * Ends a timer that is pending or expired, unless its task has begun.
	 * @return its task, null if there is nothing to return
	 */
	@Nullable Runnable endReturned() {
		long state = this.state;
		while (state >= FIRED) {
			if (STATE.compareAndSet(this, state, RETURNED)) {
				Runnable task = this.task;
				this.task = null;
				this.shard = null;
				return task;
			}
			state = this.state;
		}
		return null;
	}

	@Override
	public String toString() {
		long state = this.state;
		String description = (state >= 0) ? "pending until tick " + state : (state == FIRED) ? "handed over"
				: (state == BEGUN) ? "fired" : (state == CANCELLED) ? "cancelled" : "returned by stop";
		return "Timer[" + description + "]";
	}

}

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
 * A pending timer stands in one {@link TimerList} of its shard, or in the chunk that the
 * driver has in hand. The shard's lock guards the place, and all transitions of
 * {@link #state} that change the place. Three transitions do not change the place: the
 * move to a later tick, the expiry, and the begin of the task. Each of them is a
 * compare-and-set without the lock. After a move to a later tick, the timer stays where
 * it is until the driver comes to it. A {@link DirectTask} expires and begins in one
 * step.
 *
 * <pre>
 *  +---------- refused --------------+   +-- move
 *  |                                 v   v   |
 *  |                         pending (state >= 0) -----+
 *  |                          |      |        |        |
 *  |                       cancel  expire    stop      |
 *  |                          v      v        v        |
 *  |                  CANCELLED    FIRED    RETURNED   |
 *  |                                 | |               |
 *  +---------------------------------+ run             |
 *                                      v               |
 *                             ENDED <- BEGUN - repeat -+
 * </pre>
 *
 * Only timers of periodic tasks repeat, and end after their last run. Their handles are
 * not public.
 */
final class Timer implements TimerHandle, Runnable {

	private static final long FIRED = -1;

	private static final long BEGUN = -2;

	private static final long ENDED = -3;

	private static final long CANCELLED = -4;

	private static final long RETURNED = -5;

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
	private @Nullable Runnable task;

	/**
	 * The timer's chunk, or the list in which the timer is alone. Out of date once the
	 * timer has expired, but still of the same shard. Null once the timer has ended.
	 */
	@Nullable Place place;

	/** The index in the chunk. */
	int index;

	Timer(Runnable task, long dueTick) {
		this.task = task;
		// No fence: the shard's lock publishes the timer.
		STATE.set(this, dueTick);
	}

	@Override
	public boolean cancel() {
		Shard shard = shard();
		return shard != null && this.state >= 0 && shard.cancel(this);
	}

	@Override
	public boolean reschedule(long delay, TimeUnit unit) {
		long nanos = unit.toNanos(delay);
		Shard shard = shard();
		return shard != null && this.state >= 0 && shard.reschedule(this, nanos);
	}

	@Override
	public boolean reschedule(Duration delay) {
		return reschedule(TimeUnit.NANOSECONDS.convert(delay), TimeUnit.NANOSECONDS);
	}

	@Override
	public boolean rescheduleAt(long nanoTime) {
		Shard shard = shard();
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
		Shard shard = shard();
		long state = this.state;
		long nanos = (shard != null && state >= 0) ? Math.max(0, shard.nanosUntil(state)) : 0;
		return unit.convert(nanos, TimeUnit.NANOSECONDS);
	}

	/**
	 * Ends the timer of a periodic task, unless the task is running.
	 */
	void cancelRepeating() {
		Shard shard = shard();
		if (shard != null) {
			shard.cancelRepeating(this);
		}
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
		Shard shard = shard();
		Runnable task = this.task;
		if (shard == null || task == null) {
			return;
		}
		try {
			if (task instanceof WheelScheduledTask<?> scheduled && scheduled.isPeriodic()) {
				scheduled.run(this, shard);
				return;
			}
			this.place = null;
			this.task = null;
			task.run();
		}
		catch (Throwable ex) {
			shard.log.report(task, ex);
		}
	}

	/**
	 * The shard, null once the timer has ended.
	 */
	@Nullable Shard shard() {
		Place place = this.place;
		return (place != null) ? place.shard : null;
	}

	/**
	 * The list in which the timer stands, null if the driver has the timer in hand. Only
	 * valid for a pending timer, with the shard's lock.
	 */
	@Nullable TimerList list() {
		return (this.place instanceof Chunk chunk) ? chunk.list : (TimerList) this.place;
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
	 * Changes the due tick. The caller must hold the lock unless the move is one to
	 * later.
	 * @return false if the due tick is no longer the expected one
	 */
	boolean move(long expected, long dueTick) {
		return STATE.compareAndSet(this, expected, dueTick);
	}

	/**
	 * Makes the timer of a running task pending again. The caller holds the lock.
	 */
	void repeat(long dueTick) {
		STATE.compareAndSet(this, BEGUN, dueTick);
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
	 * Makes an expired timer pending again. The caller holds the lock.
	 * @return false if the task has begun nevertheless, or the timer has ended
	 */
	boolean refuse(long tick) {
		return STATE.compareAndSet(this, FIRED, tick);
	}

	/**
	 * Cancels a pending timer that the driver does not have in hand. The caller holds the
	 * lock. Only a move to later can come at the same time, and it takes place either
	 * before the cancel or not at all. So the cancel needs no compare-and-set.
	 */
	void endAtRest() {
		STATE.setRelease(this, CANCELLED);
		forget();
	}

	/**
	 * Cancels a pending timer.
	 * @return false if the timer is not pending
	 */
	boolean endCancelled() {
		return end(0, CANCELLED);
	}

	/**
	 * Cancels the timer of a periodic task that is pending or handed over.
	 * @return false if the timer has ended, or the task is running
	 */
	boolean endRepeating() {
		return end(FIRED, CANCELLED);
	}

	/**
	 * Ends the timer of a periodic task after its last run.
	 * @return false if the timer has ended before
	 */
	boolean endAfterRun() {
		return end(BEGUN, ENDED);
	}

	/**
	 * Ends a timer whose task {@code stop} returns.
	 * @param expired whether a timer that has expired ends, too, unless its task has
	 * begun
	 * @return the task, null if there is nothing to return
	 */
	@Nullable Runnable endReturned(boolean expired) {
		Runnable task = this.task;
		return end(expired ? FIRED : 0, RETURNED) ? task : null;
	}

	private boolean end(long lowest, long newState) {
		long state = this.state;
		while (state >= lowest) {
			if (STATE.compareAndSet(this, state, newState)) {
				forget();
				return true;
			}
			state = this.state;
		}
		return false;
	}

	private void forget() {
		this.task = null;
		this.place = null;
	}

	boolean isExpired() {
		return this.state == FIRED;
	}

	boolean isBegun() {
		return this.state == BEGUN;
	}

	/**
	 * Whether the timer has ended without its task.
	 */
	boolean isWithdrawn() {
		return this.state <= CANCELLED;
	}

	boolean isReturned() {
		return this.state == RETURNED;
	}

	@Override
	public String toString() {
		long state = this.state;
		String description = (state >= 0) ? "pending until tick " + state : (state == FIRED) ? "handed over"
				: (state >= ENDED) ? "fired" : (state == CANCELLED) ? "cancelled" : "returned by stop";
		return "Timer[" + description + "]";
	}

	/**
	 * Where a timer stands: a {@link TimerList} or a {@link Chunk}.
	 */
	abstract static class Place {

		final Shard shard;

		Place(Shard shard) {
			this.shard = shard;
		}

	}

}

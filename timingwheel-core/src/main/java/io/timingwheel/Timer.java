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
 *  + refused, or held back (state 0) +   +-- move
 *  |                                 v   v   |
 *  |                         pending (state >= 0) -----+
 *  |                          |      |        |        |
 *  |                       cancel  expire    stop      |
 *  |                          v      v        v        |
 *  |                  CANCELLED    FIRED    RETURNED   |
 *  |                                 | |               |
 *  +---------------------------------+ run             |
 *                                      v               |
 *                                    BEGUN -- repeat --+
 * </pre>
 *
 * A timer that waits for its executor is in a list of {@link WaitingTimers}, and in no
 * slot. A move takes it out of the list under the lock, since no driver would come to it
 * at its new due tick. Only timers of a {@link WheelPeriodicTask} repeat. Their handles
 * are not public.
 */
final class Timer implements TimerHandle, Runnable {

	/** The due tick of a timer that waits for its executor. */
	private static final long WAITING = 0;

	private static final long FIRED = -1;

	private static final long BEGUN = -2;

	private static final long CANCELLED = -3;

	private static final long RETURNED = -4;

	/** The numbers of nodes, and the numbers of slots, are lower. */
	static final int NUMBERS = 1 << 30;

	/** The lowest position of a timer that is alone in its slot. */
	private static final int LAST_SLOT = -NUMBERS;

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
	 * Where the timer stands:
	 * <ul>
	 * <li>0 or above: the number of its chunk and the index in the chunk;</li>
	 * <li>from {@link #LAST_SLOT} to -1: alone in its slot, the complement of the number
	 * of the slot;</li>
	 * <li>below: in the list of an executor that refuses, the number of its node in
	 * {@link WaitingTimers}, counted from {@link Integer#MIN_VALUE}.</li>
	 * </ul>
	 * Out of date once the timer has expired.
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
	 * Ends the timer of a periodic task, unless the task is running.
	 */
	void cancelRepeating() {
		Shard shard = this.shard;
		if (shard != null) {
			shard.cancelRepeating(this, false);
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
		Shard shard = this.shard;
		Runnable task = this.task;
		if (shard == null || task == null) {
			return;
		}
		try {
			if (task instanceof WheelPeriodicTask periodic) {
				periodic.run(this, shard);
				return;
			}
			this.shard = null;
			this.task = null;
			task.run();
		}
		catch (Throwable ex) {
			shard.errors().report(task, ex);
		}
	}

	/**
	 * Records that the timer is alone in its slot, which has no chunk.
	 */
	void standAlone(int slot) {
		this.position = ~slot;
	}

	/**
	 * Whether the timer is alone in its slot.
	 */
	boolean isAlone() {
		return isAlone(this.position);
	}

	/**
	 * Whether a position is that of a timer that is alone in its slot.
	 */
	static boolean isAlone(int position) {
		return position < 0 && position >= LAST_SLOT;
	}

	/**
	 * The number of the slot in which the timer is alone.
	 */
	int slot() {
		return ~this.position;
	}

	/**
	 * Records that the timer is in a node of {@link WaitingTimers}, and in no slot.
	 */
	void waitIn(int node) {
		this.position = Integer.MIN_VALUE + node;
	}

	/**
	 * Whether the timer waits for its executor. Only valid for a pending timer.
	 */
	boolean isWaiting() {
		return this.position < LAST_SLOT;
	}

	/**
	 * The node of a waiting timer.
	 */
	int node() {
		return this.position - Integer.MIN_VALUE;
	}

	/**
	 * The tick at which the timer is due, negative if it is not pending.
	 */
	long dueTick() {
		return this.state;
	}

	/**
	 * The shard, null once the timer has ended.
	 */
	@Nullable Shard shard() {
		return this.shard;
	}

	/**
	 * The task, null once the timer has ended.
	 */
	@Nullable Runnable task() {
		return this.task;
	}

	/**
	 * Whether the timer can be moved from one due tick to another without the lock: it
	 * does not wait for its executor, and the new tick is not earlier.
	 */
	static boolean isMoveToLater(long dueTick, long newDueTick) {
		return dueTick > WAITING && dueTick <= newDueTick;
	}

	/**
	 * Whether the timer is pending and due at the given tick.
	 */
	boolean isDue(long tick) {
		long state = this.state;
		return state >= 0 && state <= tick;
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
	 * Lets a timer that is due wait for its executor. The caller holds the lock.
	 * @return false if the timer is due later, or is not pending
	 */
	boolean holdBack(long tick) {
		return expire(tick, WAITING);
	}

	/**
	 * Makes the timer of a running task pending again. The caller holds the lock.
	 * @return false if the timer has ended
	 */
	boolean repeat(long dueTick) {
		return STATE.compareAndSet(this, BEGUN, dueTick);
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
	 * @return false if the task has begun nevertheless, or the timer has ended
	 */
	boolean refuse() {
		return STATE.compareAndSet(this, FIRED, WAITING);
	}

	/**
	 * Cancels a pending timer that the driver does not have in hand. The caller holds the
	 * lock. Only a move to later can come at the same time, and it takes place either
	 * before the cancel or not at all. So the cancel needs no compare-and-set.
	 */
	void endAtRest() {
		STATE.setRelease(this, CANCELLED);
		this.task = null;
		this.shard = null;
	}

	/**
	 * Cancels a pending timer.
	 * @return false if the timer is not pending
	 */
	boolean endCancelled() {
		return endCancelled(0);
	}

	/**
	 * Ends a timer of a periodic task.
	 * @param running whether the task may be running
	 * @return false if the timer has ended, or the task is running
	 */
	boolean endRepeating(boolean running) {
		return endCancelled(running ? BEGUN : FIRED);
	}

	private boolean endCancelled(long lowest) {
		long state = this.state;
		while (state >= lowest) {
			if (STATE.compareAndSet(this, state, CANCELLED)) {
				this.task = null;
				this.shard = null;
				return true;
			}
			state = this.state;
		}
		return false;
	}

	boolean isExpired() {
		return this.state == FIRED;
	}

	boolean isBegun() {
		return this.state == BEGUN;
	}

	boolean isReturned() {
		return this.state == RETURNED;
	}

	/**
	 * Ends a timer.
	 * @param expired whether a timer that has expired ends, too, unless its task has
	 * begun
	 * @return its task, null if there is nothing to return
	 */
	@Nullable Runnable endReturned(boolean expired) {
		long lowest = expired ? FIRED : 0;
		long state = this.state;
		while (state >= lowest) {
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

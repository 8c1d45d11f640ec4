package io.timingwheel;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

import io.timingwheel.TimerList.Chunk;
import org.jspecify.annotations.Nullable;

/**
 * A timer: the entry of a slot, the handle, and the {@link Runnable} for the executor, in
 * one object.
 *
 * <p>
 * The lock of the shard guards the place of a timer, and all transitions of
 * {@link #state} that change the place. Three transitions do not, and are a
 * compare-and-set without the lock: the move to a later tick, after which the timer stays
 * where it is until the driver comes to it, the expiry, and the begin of the task. A
 * {@link DirectTask} expires and begins in one step.
 *
 * <pre>
 * pending --expire--> FIRED --run--> BEGUN
 *    ^                  |              |
 *    +---- refused -----+              |
 *    +-- next run of a periodic task --+
 *
 * pending -------- cancel ------------------> CANCELLED
 * FIRED, BEGUN --- end of a periodic task --> CANCELLED
 * pending -------- stop --------------------> RETURNED
 * FIRED ---------- stop during execute -----> RETURNED
 * </pre>
 */
final class Timer implements TimerHandle, Runnable {

	static final long FIRED = -1;

	static final long BEGUN = -2;

	static final long CANCELLED = -3;

	static final long RETURNED = -4;

	private static final VarHandle STATE = ShardLock.handle(MethodHandles.lookup(), "state", long.class);

	/** The due tick while the timer is pending, otherwise one of the values above. */
	private volatile long state;

	/** Null once the timer has ended, so that a handle retains nothing. */
	private @Nullable Runnable task;

	/**
	 * The timer's chunk, or the list in which it is alone. Out of date once the timer has
	 * expired, but of the same shard. Null once the timer has ended.
	 */
	@Nullable Place place;

	int index;

	Timer(Runnable task, long dueTick) {
		this.task = task;
		// No fence: the shard's lock publishes the timer.
		STATE.set(this, dueTick);
	}

	@Override
	public boolean cancel() {
		return cancel(0);
	}

	boolean cancel(long lowestState) {
		Shard shard = shard();
		return shard != null && this.state >= lowestState && shard.cancel(this, lowestState);
	}

	@Override
	public boolean reschedule(long delay, TimeUnit unit) {
		long nanos = unit.toNanos(delay);
		Shard shard = shard();
		return shard != null && this.state >= 0 && shard.move(this, shard.time.dueTick(shard.time.elapsed(), nanos));
	}

	@Override
	public boolean reschedule(Duration delay) {
		return reschedule(TimeUnit.NANOSECONDS.convert(delay), TimeUnit.NANOSECONDS);
	}

	@Override
	public boolean rescheduleAt(long nanoTime) {
		Shard shard = shard();
		return shard != null && this.state >= 0 && shard.move(this, shard.time.dueTickAt(nanoTime));
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
		long nanos = (shard != null && state >= 0) ? Math.max(0, shard.time.nanosUntil(state)) : 0;
		return unit.convert(nanos, TimeUnit.NANOSECONDS);
	}

	/** Runs the task, unless the timer is pending again after a refusal, or has ended. */
	@Override
	public void run() {
		if (STATE.compareAndSet(this, FIRED, BEGUN)) {
			execute();
		}
	}

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

	@Nullable Shard shard() {
		Place place = this.place;
		return (place != null) ? place.shard : null;
	}

	/** The list of a pending timer, null if it is in hand. Needs the lock. */
	@Nullable TimerList list() {
		return (this.place instanceof Chunk chunk) ? chunk.list : (TimerList) this.place;
	}

	long state() {
		return this.state;
	}

	@Nullable Runnable task() {
		return this.task;
	}

	/** Needs the lock, except to move to later. */
	boolean change(long expected, long state) {
		return STATE.compareAndSet(this, expected, state);
	}

	boolean expire(long tick, long newState) {
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
	 * Ends a pending timer that stands in a list. The caller holds the lock. Only a move
	 * to later can come at the same time, so no compare-and-set is needed.
	 */
	void endAtRest(long newState) {
		STATE.setRelease(this, newState);
		forget();
	}

	/** Ends a timer in this state or a higher one: 0 for a pending timer. */
	boolean end(long lowestState, long newState) {
		long state = this.state;
		while (state >= lowestState) {
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

	@Override
	public String toString() {
		long state = this.state;
		String description = (state >= 0) ? "pending until tick " + state : (state == FIRED) ? "handed over"
				: (state == BEGUN) ? "fired" : (state == CANCELLED) ? "cancelled" : "returned by stop";
		return "Timer[" + description + "]";
	}

	abstract static class Place {

		final Shard shard;

		Place(Shard shard) {
			this.shard = shard;
		}

	}

}

package io.timingwheel;

import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A {@link Wheel} behind a lock, with its counters and its share of the limit of pending
 * timers.
 */
class Shard extends Padding {

	private final ShardLock lock = new ShardLock.Padded();

	final Wheel wheel;

	private final WheelClock time;

	private final Alarm alarm;

	private final TaskErrors errors;

	private final OwnedCounter rescheduled = new OwnedCounter.Padded();

	private boolean closed;

	/** How many timers may be pending in this shard. */
	private long quota = Long.MAX_VALUE;

	private long scheduled;

	private long cancelled;

	private long returned;

	/**
	 * How many hand-overs were accepted. The driver writes this counter without the lock.
	 */
	private final AtomicLong fired = new AtomicLong();

	Shard(WheelClock time, Alarm alarm, TaskErrors errors, Wheel wheel) {
		this.time = time;
		this.alarm = alarm;
		this.errors = errors;
		this.wheel = wheel;
	}

	void lock() {
		this.lock.lock();
	}

	void unlock() {
		this.lock.unlock();
	}

	/**
	 * Adds a timer.
	 * @return false if the shard's share of the limit is used up
	 * @throws RejectedExecutionException if the shard is closed
	 */
	boolean add(Timer timer, long dueTick) {
		long wake;
		this.lock.lock();
		try {
			if (pending() >= this.quota && !this.closed) {
				return false;
			}
			wake = schedule(timer, dueTick);
		}
		finally {
			this.lock.unlock();
		}
		this.alarm.wakeFor(wake);
		return true;
	}

	/**
	 * Adds a timer even if the shard's share of the limit is used up. The caller holds
	 * the lock.
	 * @throws RejectedExecutionException if the shard is closed
	 */
	void addLocked(Timer timer, long dueTick) {
		this.alarm.wakeFor(schedule(timer, dueTick));
	}

	private long schedule(Timer timer, long dueTick) {
		if (this.closed) {
			throw new RejectedExecutionException("The timing wheel is stopped");
		}
		long wake = place(timer, dueTick);
		this.scheduled++;
		return wake;
	}

	/**
	 * Reads the clock only if the wheel needs the current tick, since a reading costs as
	 * much as the rest of the call.
	 */
	private long place(Timer timer, long dueTick) {
		long wake = this.wheel.placeWithoutNow(timer, dueTick);
		return (wake == Wheel.NEEDS_NOW) ? this.wheel.place(timer, dueTick, this.time.now()) : wake;
	}

	boolean cancel(Timer timer) {
		this.lock.lock();
		try {
			if (!timer.isPending()) {
				return false;
			}
			if (this.wheel.remove(timer)) {
				timer.endRemoved();
			}
			else if (!timer.endCancelled()) {
				return false;
			}
			this.cancelled++;
			return true;
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Moves a timer, without the lock if the new due tick is not earlier than the old
	 * one.
	 * @param delay the time from now to the new deadline, in nanoseconds
	 * @return false if the timer is not pending
	 */
	boolean reschedule(Timer timer, long delay) {
		return move(timer, this.time.dueTick(this.time.elapsed(), delay));
	}

	/**
	 * Moves a timer, without the lock and without a reading of the clock if the new due
	 * tick is not earlier than the old one.
	 * @param nanoTime the new deadline, as a reading of the clock
	 * @return false if the timer is not pending
	 */
	boolean rescheduleAt(Timer timer, long nanoTime) {
		return move(timer, this.time.dueTickAt(nanoTime));
	}

	private boolean move(Timer timer, long dueTick) {
		long before = timer.dueTick();
		while (before >= 0 && before <= dueTick) {
			if (timer.move(before, dueTick)) {
				this.rescheduled.increment();
				return true;
			}
			before = timer.dueTick();
		}
		return before >= 0 && moveToSooner(timer, dueTick);
	}

	private boolean moveToSooner(Timer timer, long dueTick) {
		long wake = Wheel.NEVER;
		this.lock.lock();
		try {
			long before = timer.dueTick();
			while (before >= 0 && !timer.move(before, dueTick)) {
				before = timer.dueTick();
			}
			if (before < 0) {
				return false;
			}
			if (this.wheel.isTooLate(timer, dueTick)) {
				this.wheel.remove(timer);
				wake = place(timer, dueTick);
			}
		}
		finally {
			this.lock.unlock();
		}
		this.rescheduled.increment();
		this.alarm.wakeFor(wake);
		return true;
	}

	/**
	 * Puts the kept timers of the batch back into the wheel. This also happens if the
	 * shard is closed, since {@code stop} collects the timers there. Only the driver
	 * calls this.
	 */
	void putBackKept() {
		Batch batch = batch();
		this.lock.lockNext();
		try {
			for (Timer timer = batch.nextKept(); timer != null; timer = batch.nextKept()) {
				long dueTick = timer.dueTick();
				if (dueTick >= 0) {
					this.wheel.place(timer, dueTick, batch.tick());
				}
				batch.dropKept();
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Counts an accepted hand-over, which frees a permit of the limit.
	 */
	void handedOver() {
		// The driver is the only writer.
		this.fired.setRelease(this.fired.getPlain() + 1);
	}

	/**
	 * The timers that the driver has in hand. Only the driver calls this.
	 */
	Batch batch() {
		return this.wheel.batch;
	}

	/**
	 * Takes one step of the wheel. Only the driver calls this.
	 * @return the timers to hand over, often none
	 * @see Wheel#advance
	 */
	Batch advance(long now) {
		this.lock.lockNext();
		try {
			return this.wheel.advance(now);
		}
		finally {
			this.lock.unlock();
		}
	}

	long nextDue() {
		return this.wheel.nextDue();
	}

	long nextWake() {
		return this.wheel.nextWake();
	}

	/**
	 * Rejects all timers from now on.
	 */
	void close() {
		this.lock.lock();
		try {
			this.closed = true;
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Ends all timers in slots, and collects their tasks.
	 */
	void drainTo(List<Runnable> tasks) {
		this.lock.lock();
		try {
			this.wheel.drainTo((timer) -> addReturned(timer, tasks));
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Ends a timer that the driver has in hand, and collects its task.
	 * @return false if the task has begun
	 */
	boolean giveBack(Timer timer, List<Runnable> tasks) {
		this.lock.lock();
		try {
			return addReturned(timer, tasks);
		}
		finally {
			this.lock.unlock();
		}
	}

	private boolean addReturned(Timer timer, List<Runnable> tasks) {
		Runnable task = timer.endReturned();
		if (task == null) {
			return false;
		}
		tasks.add(task);
		this.returned++;
		return true;
	}

	TaskErrors errors() {
		return this.errors;
	}

	long nanosUntil(long tick) {
		return this.time.nanosUntil(tick);
	}

	/**
	 * Adds this shard's counters. The caller holds the lock.
	 */
	void addTo(WheelTotals totals) {
		totals.scheduled += this.scheduled;
		totals.rescheduled += this.rescheduled.sum();
		totals.fired += this.fired.getAcquire();
		totals.cancelled += this.cancelled;
		totals.pending += pending();
		this.wheel.addTo(totals);
	}

	/**
	 * How many timers are pending or being handed over. The caller holds the lock.
	 */
	long pending() {
		return this.scheduled - this.cancelled - this.returned - this.fired.getAcquire();
	}

	/**
	 * Sets how many timers may be pending in this shard. The caller holds the lock.
	 */
	void quota(long quota) {
		this.quota = quota;
	}

	/**
	 * Adds the space after the fields, see {@link Padding}.
	 */
	static final class Padded extends Shard {

		@SuppressWarnings("unused")
		private long p0, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, p12, p13, p14;

		Padded(WheelClock time, Alarm alarm, TaskErrors errors, Wheel wheel) {
			super(time, alarm, errors, wheel);
		}

	}

}

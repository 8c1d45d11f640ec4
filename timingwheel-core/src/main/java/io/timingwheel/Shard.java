package io.timingwheel;

import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/**
 * A {@link Wheel} behind a lock, with its share of the limit and its counters.
 */
final class Shard extends Padding {

	private final ShardLock lock = new ShardLock();

	private final Wheel wheel;

	private final WheelClock time;

	private final Alarm alarm;

	private final TaskErrors errors;

	private final LongAdder rescheduled = new LongAdder();

	private boolean closed;

	/** How many timers may be pending here. */
	private long quota = Long.MAX_VALUE;

	private long scheduled;

	private long cancelled;

	private long returned;

	@SuppressWarnings("unused")
	private long p0, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, p12, p13, p14;

	/** How many hand-overs were accepted; written by the driver, without the lock. */
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
	boolean add(Timer timer, long when, long now) {
		long wake;
		this.lock.lock();
		try {
			if (pending() >= this.quota && !this.closed) {
				return false;
			}
			wake = place(timer, when, now);
		}
		finally {
			this.lock.unlock();
		}
		this.alarm.wakeFor(wake);
		return true;
	}

	/**
	 * Adds a timer whatever the shard's share of the limit. Called with the lock held.
	 * @throws RejectedExecutionException if the shard is closed
	 */
	void addLocked(Timer timer, long when, long now) {
		this.alarm.wakeFor(place(timer, when, now));
	}

	private long place(Timer timer, long when, long now) {
		if (this.closed) {
			throw new RejectedExecutionException("The timing wheel is stopped");
		}
		long wake = this.wheel.place(timer, when, now);
		this.scheduled++;
		return wake;
	}

	boolean cancel(Timer timer) {
		this.lock.lock();
		try {
			if (!timer.endCancelled()) {
				return false;
			}
			this.cancelled++;
			this.wheel.remove(timer);
			return true;
		}
		finally {
			this.lock.unlock();
		}
	}

	boolean reschedule(Timer timer, long delay) {
		long elapsed = this.time.elapsed();
		long when = this.time.deadline(elapsed, delay);
		long from = timer.when();
		while (from >= 0 && from <= when) {
			if (timer.move(from, when)) {
				this.rescheduled.increment();
				return true;
			}
			from = timer.when();
		}
		return from >= 0 && pullForward(timer, when, this.time.tickAt(elapsed));
	}

	private boolean pullForward(Timer timer, long when, long now) {
		long wake = Wheel.NEVER;
		this.lock.lock();
		try {
			long from = timer.when();
			while (from >= 0 && !timer.move(from, when)) {
				from = timer.when();
			}
			if (from < 0) {
				return false;
			}
			if (this.wheel.isTooLate(timer, when)) {
				this.wheel.remove(timer);
				wake = this.wheel.place(timer, when, now);
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
	 * Puts timers where they belong that were moved before the driver came to them, or
	 * refused; also in a closed shard, whose timers are to be returned.
	 */
	void placeKept(Batch batch) {
		this.lock.lock();
		try {
			for (Timer timer = batch.firstKept(); timer != null; timer = batch.firstKept()) {
				long when = timer.when();
				if (when >= 0) {
					this.wheel.place(timer, when, batch.tick());
				}
				batch.dropFirstKept();
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Counts an accepted hand-over, which frees its permit.
	 */
	void handedOver() {
		// The driver is the only writer.
		this.fired.setRelease(this.fired.getPlain() + 1);
	}

	/**
	 * Serves what is due. Called by the driver only.
	 * @see Wheel#advance
	 */
	void advance(long now, Batch batch) {
		this.lock.lock();
		try {
			this.wheel.advance(now, batch);
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
	 * Refuses all timers from now on.
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
	 * Ends all pending timers and collects their tasks.
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
	 * Ends a timer that the driver has in hand.
	 * @return false if its task has begun
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
	 * Adds this shard's counters. Called with the lock held.
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
	 * How many timers are pending or in the driver's hand. Called with the lock held.
	 */
	long pending() {
		return this.scheduled - this.cancelled - this.returned - this.fired.getAcquire();
	}

	/**
	 * Sets how many timers may be pending here. Called with the lock held.
	 */
	void quota(long quota) {
		this.quota = quota;
	}

}

package io.timingwheel;

import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicLong;

import org.jspecify.annotations.Nullable;

/**
 * A {@link Wheel} behind a lock, with its counters and its share of the limit of pending
 * timers.
 */
abstract class Shard extends Padding {

	private final ShardLock lock = new ShardLock.Padded();

	final Wheel wheel;

	private final WheelClock time;

	private final Alarm alarm;

	private final TaskErrors errors;

	private final WaitingTimers waiting;

	private final OwnedCounter rescheduled = new OwnedCounter.Padded();

	private boolean closed;

	/** Whether {@code stop} has collected the timers, and will not do so again. */
	private boolean drained;

	/** How many timers may be pending in this shard. */
	private long quota = Long.MAX_VALUE;

	private long scheduled;

	private long cancelled;

	private long returned;

	/**
	 * How many hand-overs were accepted, without those of periodic tasks. The driver
	 * writes this counter without the lock.
	 */
	private final AtomicLong fired = new AtomicLong();

	/**
	 * How many hand-overs of periodic tasks were accepted. With the hand-over, the next
	 * run counts as scheduled and pending, so that it keeps the permit.
	 */
	private final AtomicLong repeated = new AtomicLong();

	Shard(WheelClock time, Alarm alarm, TaskErrors errors, WaitingTimers waiting, Wheel wheel) {
		this.time = time;
		this.alarm = alarm;
		this.errors = errors;
		this.waiting = waiting;
		this.wheel = wheel;
	}

	void lock() {
		this.lock.lock();
	}

	/**
	 * Takes the lock unless the thread would have to sleep.
	 * @return whether the thread holds the lock
	 */
	boolean lockSoon() {
		return this.lock.lockSoon();
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
			if (!isInHand(timer)) {
				timer.endAtRest();
			}
			else if (!timer.endCancelled()) {
				return false;
			}
			this.cancelled++;
			remove(timer);
			return true;
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Ends the timer of a periodic task. If the task has been handed over, but does not
	 * run, it will not run.
	 * @param running whether the timer ends even if the task is running
	 */
	void cancelRepeating(Timer timer, boolean running) {
		this.lock.lock();
		try {
			boolean pending = timer.isPending();
			if (timer.endRepeating(running)) {
				this.cancelled++;
				if (pending) {
					remove(timer);
				}
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Makes the timer of a running periodic task pending again.
	 * @param delay the time from now to the next run, in nanoseconds
	 * @return false if the timer has ended, or the shard is closed
	 */
	boolean repeat(Timer timer, long delay) {
		long dueTick = this.time.dueTick(this.time.elapsed(), delay);
		long wake;
		this.lock.lock();
		try {
			if (this.closed || !timer.isBegun()) {
				return false;
			}
			wake = place(timer, dueTick);
			timer.repeat(dueTick);
		}
		finally {
			this.lock.unlock();
		}
		this.alarm.wakeFor(wake);
		return true;
	}

	private boolean isInHand(Timer timer) {
		return !timer.isWaiting() && this.wheel.slotOf(timer) == Chunk.IN_HAND;
	}

	/**
	 * Removes a timer from its slot, or from the queue of its executor. The timer was
	 * pending until the caller ended it: otherwise its position would be out of date.
	 */
	private void remove(Timer timer) {
		if (timer.isWaiting()) {
			removeWaiting(timer.node());
		}
		else {
			this.wheel.remove(timer);
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
		while (Timer.isMoveToLater(before, dueTick)) {
			if (timer.move(before, dueTick)) {
				this.rescheduled.increment();
				return true;
			}
			before = timer.dueTick();
		}
		return before >= 0 && moveLocked(timer, dueTick);
	}

	private boolean moveLocked(Timer timer, long dueTick) {
		long wake = Wheel.NEVER;
		this.lock.lock();
		try {
			long before = timer.dueTick();
			if (before >= 0 && timer.isWaiting()) {
				if (this.drained) {
					// Stop collects the timer from the queue, and no longer from the
					// wheel.
					return false;
				}
				wake = placeWaiting(timer, dueTick);
			}
			else if (before >= 0 && this.wheel.isTooLate(timer, dueTick)) {
				// If there is no memory for the new slot, the timer keeps the old one.
				int position = timer.position;
				wake = place(timer, dueTick);
				changeDueTick(timer, dueTick);
				this.wheel.removeAt(position);
			}
			else if (!changeDueTick(timer, dueTick)) {
				return false;
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
	 * Changes the due tick, whatever the present one is.
	 * @return false if the timer is not pending
	 */
	private static boolean changeDueTick(Timer timer, long dueTick) {
		long before = timer.dueTick();
		while (before >= 0 && !timer.move(before, dueTick)) {
			before = timer.dueTick();
		}
		return before >= 0;
	}

	/**
	 * Moves a timer that waits for its executor into the wheel. Without the lock, nothing
	 * changes the state of a waiting timer.
	 */
	private long placeWaiting(Timer timer, long dueTick) {
		int node = timer.node();
		long wake = place(timer, dueTick);
		timer.move(timer.dueTick(), dueTick);
		removeWaiting(node);
		return wake;
	}

	private void removeWaiting(int node) {
		this.waiting.lock();
		try {
			this.waiting.remove(node);
		}
		finally {
			this.waiting.unlock();
		}
	}

	/**
	 * Keeps the current timer of the batch after its hand-over has failed, unless the
	 * timer has ended or waits for its executor. Only the driver calls this.
	 */
	void keepIfPending(Timer timer) {
		this.lock.lockNext();
		try {
			if (timer.isPending() && isInHand(timer)) {
				batch().keepCurrent(null);
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Puts the kept timers of the batch back into the wheel, or into the queues of their
	 * executors. This also happens if the shard is closed, since {@code stop} collects
	 * the timers there. Only the driver calls this.
	 */
	void putBackKept() {
		Batch batch = batch();
		boolean waiting = batch.hasQueues();
		this.lock.lockNext();
		try {
			if (waiting) {
				this.waiting.lockNext();
			}
			for (Timer timer = batch.nextKept(); timer != null; timer = batch.nextKept()) {
				putBack(timer, batch.queueOfKept(), batch.tick());
				batch.dropKept();
			}
		}
		finally {
			if (waiting) {
				this.waiting.unlock();
			}
			this.lock.unlock();
		}
	}

	private void putBack(Timer timer, @Nullable RefusalQueue queue, long tick) {
		if (this.drained) {
			dropAfterStop(timer);
		}
		else if (queue != null && timer.holdBack(tick)) {
			queue.append(timer);
		}
		else {
			long dueTick = timer.dueTick();
			if (dueTick >= 0) {
				this.wheel.place(timer, dueTick, tick);
			}
		}
	}

	/**
	 * Ends a timer that has come back to the driver after {@code stop} has given up to
	 * wait for the driver. No one is left to whom the timer could be returned.
	 */
	private void dropAfterStop(Timer timer) {
		if (timer.endCancelled()) {
			this.cancelled++;
		}
	}

	/**
	 * Lets a timer wait whose executor has refused it. Only the driver calls this.
	 * @return false if the task has begun nevertheless, or the timer has ended
	 */
	boolean refused(Timer timer, RefusalQueue queue) {
		this.lock.lockNext();
		try {
			if (!timer.isExpired()) {
				return false;
			}
			this.waiting.lockNext();
			try {
				queue.insertTried(timer);
				if (!timer.refuse()) {
					this.waiting.remove(timer.node());
					return false;
				}
				if (this.drained) {
					this.waiting.remove(timer.node());
					dropAfterStop(timer);
				}
			}
			finally {
				this.waiting.unlock();
			}
			return true;
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Takes a timer from the queue of its executor and expires it. Only the driver calls
	 * this.
	 * @return false if the timer has left the queue
	 */
	boolean expireWaiting(Timer timer, RefusalQueue queue) {
		this.lock.lockNext();
		try {
			if (!timer.isWaiting() || !timer.expire(0)) {
				return false;
			}
			this.waiting.lockNext();
			try {
				queue.takeInHand(timer);
			}
			finally {
				this.waiting.unlock();
			}
			return true;
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
	 * Counts an accepted hand-over of a periodic task. The permit stays with its next
	 * run.
	 */
	void handedOverToRepeat() {
		this.repeated.setRelease(this.repeated.getPlain() + 1);
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
	 * @param inHand whether the driver still has a batch in hand. Its pending timers end,
	 * too
	 */
	void drainTo(List<Runnable> tasks, boolean inHand) {
		this.lock.lock();
		try {
			this.wheel.drainTo((timer) -> addReturned(timer, false, tasks));
			if (inHand) {
				batch().forEachInHand((timer) -> addReturned(timer, false, tasks));
			}
			this.drained = true;
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Records that {@code stop} has failed, so that another call collects the timers that
	 * come back until then.
	 */
	void drainFailed() {
		this.lock.lock();
		try {
			this.drained = false;
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Ends a timer that waits for its executor, and collects its task.
	 */
	void drainWaiting(Timer timer, List<Runnable> tasks) {
		this.lock.lock();
		try {
			if (addReturned(timer, false, tasks)) {
				remove(timer);
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Ends a timer that the driver has in hand, and collects its task unless the task has
	 * begun.
	 */
	void giveBack(Timer timer, List<Runnable> tasks) {
		this.lock.lock();
		try {
			addReturned(timer, true, tasks);
		}
		finally {
			this.lock.unlock();
		}
	}

	private boolean addReturned(Timer timer, boolean expired, List<Runnable> tasks) {
		int index = tasks.size();
		// Without memory for a place in the list, the timer does not end.
		tasks.add(timer);
		Runnable task = timer.endReturned(expired);
		if (task == null) {
			tasks.remove(index);
			return false;
		}
		tasks.set(index, task);
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
		long fired = this.fired.getAcquire();
		long repeated = this.repeated.getAcquire();
		totals.scheduled += this.scheduled + repeated;
		totals.rescheduled += this.rescheduled.sum();
		totals.fired += fired + repeated;
		totals.cancelled += this.cancelled;
		totals.returned += this.returned;
		totals.pending += this.scheduled - this.cancelled - this.returned - fired;
		this.wheel.addTo(totals);
	}

	/**
	 * Adds this shard's slots. The caller holds the lock.
	 */
	void addTo(WheelSlots.Sums sums) {
		this.wheel.addTo(sums);
	}

	/**
	 * How many timers are pending or being handed over, with the next runs of periodic
	 * tasks that run. The caller holds the lock.
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

		Padded(WheelClock time, Alarm alarm, TaskErrors errors, WaitingTimers waiting, Wheel wheel) {
			super(time, alarm, errors, waiting, wheel);
		}

	}

}

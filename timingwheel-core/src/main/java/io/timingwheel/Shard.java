package io.timingwheel;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

import org.jspecify.annotations.Nullable;

/**
 * A {@link Wheel} behind a lock, with its counters, its share of the limit of pending
 * timers, and the timers that wait for an executor.
 *
 * <p>
 * Each pending timer stands in exactly one list of its shard: a slot of the wheel, or a
 * list of a {@link Gate}. Who takes it from the list, or puts it into one, holds the
 * lock. A chunk that the driver has in hand has left its list. Its timers change only by
 * a compare-and-set of their state, until the driver puts them back.
 */
abstract class Shard extends ShardLock {

	/** The timer was not added, since the shard's share of the limit is used up. */
	static final long FULL = Wheel.NEEDS_NOW;

	private static final VarHandle MOVES;
	static {
		try {
			MOVES = MethodHandles.lookup().findVarHandle(Shard.class, "moves", long.class);
		}
		catch (ReflectiveOperationException ex) {
			throw new ExceptionInInitializerError(ex);
		}
	}

	final Wheel wheel;

	final Log log;

	private final WheelClock time;

	private final Alarm alarm;

	/** By executor. Only the driver changes the map, with the lock. */
	private Map<Object, Gate> gates = new IdentityHashMap<>();

	private boolean closed;

	/** Whether {@code stop} has collected the timers for the last time. */
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

	/** The thread that counts its moves in {@link #moves}. */
	private volatile WeakReference<@Nullable Thread> mover = new WeakReference<>(null);

	private volatile long moves;

	private final LongAdder movesOfOthers = new LongAdder();

	Shard(WheelClock time, Alarm alarm, Log log, int wheelSize) {
		this.time = time;
		this.alarm = alarm;
		this.log = log;
		this.wheel = new Wheel(this, wheelSize);
	}

	/**
	 * Adds a timer.
	 * @return the tick at which the driver has to be awake because of this timer,
	 * {@link #FULL} if the shard's share of the limit is used up
	 * @throws RejectedExecutionException if the shard is closed
	 */
	long add(Timer timer, long dueTick) {
		lock();
		try {
			return (pending() >= this.quota && !this.closed) ? FULL : addLocked(timer, dueTick);
		}
		finally {
			unlock();
		}
	}

	/**
	 * Adds a timer even if the shard's share of the limit is used up. The caller holds
	 * the lock.
	 * @throws RejectedExecutionException if the shard is closed
	 */
	long addLocked(Timer timer, long dueTick) {
		if (this.closed) {
			throw new RejectedExecutionException("The timing wheel is stopped");
		}
		if (this.mover.refersTo(null)) {
			this.mover = new WeakReference<>(Thread.currentThread());
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
		lock();
		try {
			Timer.Place place = timer.place;
			if (place == null || !timer.isPending()) {
				return false;
			}
			TimerList list = timer.list();
			int index = timer.index;
			if (list != null) {
				timer.endAtRest();
			}
			else if (!timer.endCancelled()) {
				return false;
			}
			this.cancelled++;
			this.wheel.remove(list, place, index);
			return true;
		}
		finally {
			unlock();
		}
	}

	/**
	 * Ends the timer of a periodic task, unless the task is running. If the task has been
	 * handed over, but does not run, it will not run.
	 */
	void cancelRepeating(Timer timer) {
		lock();
		try {
			Timer.Place place = timer.place;
			TimerList list = timer.isPending() ? timer.list() : null;
			int index = timer.index;
			if (place != null && timer.endRepeating()) {
				this.cancelled++;
				this.wheel.remove(list, place, index);
			}
		}
		finally {
			unlock();
		}
	}

	/**
	 * Ends the timer of a periodic task after its last run.
	 */
	void endRepeating(Timer timer) {
		lock();
		try {
			if (timer.endAfterRun()) {
				this.cancelled++;
			}
		}
		finally {
			unlock();
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
		lock();
		try {
			if (this.closed || !timer.isBegun()) {
				return false;
			}
			wake = place(timer, dueTick);
			timer.repeat(dueTick);
		}
		finally {
			unlock();
		}
		this.alarm.wakeFor(wake);
		return true;
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
				countMove();
				return true;
			}
			before = timer.dueTick();
		}
		return before >= 0 && moveToSooner(timer, dueTick);
	}

	private boolean moveToSooner(Timer timer, long dueTick) {
		long wake = Wheel.NEVER;
		lock();
		try {
			Timer.Place place = timer.place;
			if (place == null || !timer.isPending()) {
				return false;
			}
			if (this.wheel.isTooLate(timer, dueTick)) {
				// If there is no memory for the new slot, the timer keeps the old one.
				TimerList list = timer.list();
				int index = timer.index;
				wake = place(timer, dueTick);
				changeDueTick(timer, dueTick);
				this.wheel.remove(list, place, index);
			}
			else if (!changeDueTick(timer, dueTick)) {
				return false;
			}
		}
		finally {
			unlock();
		}
		countMove();
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
	 * Counts a move. One thread does so without an atomic instruction, which would cost a
	 * third of a move by deadline: the first thread that has added a timer, or another
	 * one after it has ended.
	 */
	private void countMove() {
		if (this.mover.refersTo(Thread.currentThread())) {
			MOVES.setRelease(this, this.moves + 1);
		}
		else {
			this.movesOfOthers.increment();
		}
	}

	/**
	 * Takes one step of the wheel. Only the driver calls this and the methods that
	 * follow.
	 * @return the chunk to hand over, often none
	 * @see Wheel#advance
	 */
	@Nullable Chunk advance(long now) {
		lockNext();
		try {
			return this.wheel.advance(now);
		}
		finally {
			unlock();
		}
	}

	/**
	 * Puts a timer that was moved out of the chunk in hand.
	 */
	void putBack(Timer timer, long tick) {
		lockNext();
		try {
			if (timer.isPending() && !endAfterStop(timer)) {
				this.wheel.place(timer, timer.dueTick(), tick);
			}
		}
		finally {
			unlock();
		}
	}

	/**
	 * Lets a timer that has expired wait for its executor.
	 * @return false if the task has begun nevertheless, or the timer has ended
	 */
	boolean letWait(Timer timer, TimerList list, long tick) {
		lockNext();
		try {
			// An append that finds no memory must not fail after the timer is pending.
			list.reserve();
			if (!timer.refuse(tick)) {
				return false;
			}
			if (!endAfterStop(timer)) {
				list.append(timer);
			}
			return true;
		}
		finally {
			unlock();
		}
	}

	/**
	 * Ends a timer that comes back after {@code stop} has collected the timers for the
	 * last time. No one is left to whom the timer could be returned.
	 */
	private boolean endAfterStop(Timer timer) {
		if (this.drained && timer.endCancelled()) {
			this.cancelled++;
		}
		return this.drained;
	}

	/**
	 * Takes the first timer from a list of timers that wait, and expires it. A timer that
	 * was moved to later goes to the wheel.
	 * @return null if the timer is due later
	 */
	@Nullable Timer takeWaiting(TimerList list, long tick) {
		lockNext();
		try {
			Timer timer = list.first();
			Timer.Place place = (timer != null) ? timer.place : null;
			if (timer == null || place == null) {
				return null;
			}
			int index = timer.index;
			boolean due = timer.expire(tick);
			if (!due) {
				this.wheel.place(timer, timer.dueTick(), tick);
			}
			list.remove(place, index);
			return due ? timer : null;
		}
		finally {
			unlock();
		}
	}

	/**
	 * The gate of an executor, null if the executor does not refuse.
	 */
	@Nullable Gate gate(Object executor) {
		return this.gates.isEmpty() ? null : this.gates.get(executor);
	}

	void addGate(Gate gate) {
		lockNext();
		try {
			this.gates.put(gate.executor, gate);
		}
		finally {
			unlock();
		}
	}

	/**
	 * Removes a gate if no timer waits there any more.
	 */
	boolean removeIfEmpty(Gate gate) {
		lockNext();
		try {
			if (gate.size() > 0) {
				return false;
			}
			this.gates.remove(gate.executor, gate);
			if (this.gates.isEmpty()) {
				// The old map would keep its capacity for the largest number of gates.
				this.gates = new IdentityHashMap<>();
			}
			return true;
		}
		finally {
			unlock();
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
	 * Rejects all timers from now on.
	 */
	void close() {
		lock();
		try {
			this.closed = true;
		}
		finally {
			unlock();
		}
	}

	/**
	 * Ends all pending timers, and collects their tasks.
	 * @param last whether timers that come back later end without being collected
	 */
	void drain(ArrayList<Runnable> tasks, boolean last) {
		lock();
		try {
			// A timer that has ended must have its place in the list.
			tasks.ensureCapacity(tasks.size() + (int) pending());
			this.wheel.forEachSlot((list) -> list.forEach((timer) -> endReturned(timer, false, tasks)));
			this.wheel.clear();
			for (Gate gate : this.gates.values()) {
				gate.drain((timer) -> endReturned(timer, false, tasks));
			}
			Chunk inHand = this.wheel.inHand();
			if (inHand != null) {
				inHand.forEach((timer) -> endReturned(timer, false, tasks));
			}
			this.drained |= last;
		}
		finally {
			unlock();
		}
	}

	/**
	 * Ends a timer that the driver is handing over, and collects its task unless the task
	 * has begun.
	 */
	void giveBack(Timer timer, ArrayList<Runnable> tasks) {
		lock();
		try {
			endReturned(timer, true, tasks);
		}
		finally {
			unlock();
		}
	}

	private void endReturned(Timer timer, boolean expired, ArrayList<Runnable> tasks) {
		Runnable task = timer.endReturned(expired);
		if (task != null) {
			tasks.add(task);
			this.returned++;
		}
	}

	long nanosUntil(long tick) {
		return this.time.nanosUntil(tick);
	}

	/**
	 * Adds this shard's counters and slots. The caller holds the lock.
	 */
	void addTo(WheelTotals totals) {
		long repeated = this.repeated.getAcquire();
		long fired = this.fired.getAcquire();
		totals.scheduled += this.scheduled + repeated;
		totals.rescheduled += this.moves + this.movesOfOthers.sum();
		totals.fired += fired + repeated;
		totals.cancelled += this.cancelled;
		totals.returned += this.returned;
		totals.pending += this.scheduled - this.cancelled - this.returned - fired;
		totals.add(this.wheel);
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

		Padded(WheelClock time, Alarm alarm, Log log, int wheelSize) {
			super(time, alarm, log, wheelSize);
		}

	}

}

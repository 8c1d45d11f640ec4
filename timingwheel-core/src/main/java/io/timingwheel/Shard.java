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
import java.util.function.Consumer;

import io.timingwheel.TimerList.Chunk;
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
@SuppressWarnings("try")
abstract class Shard extends ShardLock {

	private static final VarHandle MOVES = handle(MethodHandles.lookup(), "moves", long.class);

	final Wheel wheel;

	final Log log;

	final WheelClock time;

	private final DriverThread thread;

	/** By executor. Only the driver changes the map, with the lock. */
	private Map<Object, Gate> gates = new IdentityHashMap<>();

	private boolean shut;

	/** Whether {@code stop} has collected the timers for the last time. */
	private boolean drained;

	/** How many timers may be pending in this shard. Guarded by the lock. */
	long quota = Long.MAX_VALUE;

	private long scheduled;

	private long cancelled;

	private long returned;

	/** Accepted hand-overs. The driver counts them without the lock. */
	private final AtomicLong fired = new AtomicLong();

	/** Those of periodic tasks, whose permits stay with the next run. */
	private final AtomicLong repeated = new AtomicLong();

	/** The thread that counts its moves in {@link #moves}. */
	private volatile WeakReference<@Nullable Thread> mover = new WeakReference<>(null);

	private volatile long moves;

	private final LongAdder movesOfOthers = new LongAdder();

	Shard(WheelClock time, DriverThread thread, Log log, int wheelSize) {
		this.time = time;
		this.thread = thread;
		this.log = log;
		this.wheel = new Wheel(this, time, wheelSize);
	}

	/** Returns null if the shard's share of the limit is used up. */
	@Nullable Timer add(Runnable task, long dueTick) {
		Timer timer;
		try (ShardLock held = lock()) {
			if (pending() >= this.quota && !this.shut) {
				return null;
			}
			timer = new Timer(task, dueTick);
			addLocked(timer, dueTick);
		}
		wakeDriver();
		return timer;
	}

	/** Knows no quota. The caller holds the lock, and wakes the driver afterwards. */
	void addLocked(Timer timer, long dueTick) {
		if (this.shut) {
			throw new RejectedExecutionException("The timing wheel is stopped");
		}
		// The look takes time, so there is one for 256 timers.
		if ((this.scheduled & 0xFF) == 0 && this.mover.refersTo(null)) {
			this.mover = new WeakReference<>(Thread.currentThread());
		}
		this.wheel.place(timer, dueTick);
		this.scheduled++;
	}

	void wakeDriver() {
		this.thread.wakeFor(this.wheel.nextWake);
	}

	boolean cancel(Timer timer, long lowestState) {
		try (ShardLock held = lock()) {
			Timer.Place place = timer.place;
			if (place == null || timer.state() < lowestState) {
				return false;
			}
			TimerList list = timer.isPending() ? timer.list() : null;
			int index = timer.index;
			if (list != null) {
				timer.endAtRest(Timer.CANCELLED);
			}
			else if (!timer.end(lowestState, Timer.CANCELLED)) {
				return false;
			}
			this.cancelled++;
			this.wheel.remove(list, place, index);
			return true;
		}
	}

	/** Makes the timer of a running periodic task pending again. */
	boolean repeat(Timer timer, long delay) {
		long dueTick = this.time.dueTick(this.time.elapsed(), delay);
		try (ShardLock held = lock()) {
			if (this.shut || timer.state() != Timer.BEGUN) {
				return false;
			}
			this.wheel.place(timer, dueTick);
			timer.change(Timer.BEGUN, dueTick);
		}
		wakeDriver();
		return true;
	}

	boolean move(Timer timer, long dueTick) {
		long before = timer.state();
		while (before >= 0 && before <= dueTick) {
			if (timer.change(before, dueTick)) {
				countMove();
				return true;
			}
			before = timer.state();
		}
		return before >= 0 && moveToSooner(timer, dueTick);
	}

	private boolean moveToSooner(Timer timer, long dueTick) {
		try (ShardLock held = lock()) {
			Timer.Place place = timer.place;
			if (place == null || !timer.isPending()) {
				return false;
			}
			boolean tooLate = this.wheel.isTooLate(timer, dueTick);
			TimerList list = timer.list();
			int index = timer.index;
			if (tooLate) {
				// If there is no memory for the new slot, the timer keeps the old one.
				this.wheel.place(timer, dueTick);
			}
			if (!changeDueTick(timer, dueTick)) {
				return false;
			}
			if (tooLate) {
				this.wheel.remove(list, place, index);
			}
		}
		wakeDriver();
		// The count may need memory, so it comes last.
		countMove();
		return true;
	}

	private static boolean changeDueTick(Timer timer, long dueTick) {
		long before = timer.state();
		while (before >= 0 && !timer.change(before, dueTick)) {
			before = timer.state();
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

	// Only the driver calls this method and those down to handedOver.

	@Nullable Chunk advance(long now) {
		try (ShardLock held = lockNext()) {
			return this.wheel.advance(now);
		}
	}

	void putBack(Timer timer) {
		try (ShardLock held = lockNext()) {
			if (timer.isPending() && !endAfterStop(timer)) {
				this.wheel.place(timer, timer.state());
			}
		}
	}

	boolean letWait(Timer timer, Gate gate, TimerList list, long tick) {
		try (ShardLock held = lockNext()) {
			// What needs memory comes before the timer is pending.
			this.gates.put(gate.executor, gate);
			list.reserve();
			if (!timer.change(Timer.FIRED, tick)) {
				return false;
			}
			if (!endAfterStop(timer)) {
				list.append(timer);
			}
			return true;
		}
	}

	/** After the last collection of {@code stop}, nobody else would end it. */
	private boolean endAfterStop(Timer timer) {
		if (this.drained && timer.end(0, Timer.CANCELLED)) {
			this.cancelled++;
		}
		return this.drained;
	}

	/** If the first timer of the list was moved to later, it goes to the wheel. */
	@Nullable Timer takeWaiting(TimerList list, long tick) {
		try (ShardLock held = lockNext()) {
			Timer timer = list.isEmpty() ? null : list.first();
			Timer.Place place = (timer != null) ? timer.place : null;
			if (timer == null || place == null) {
				return null;
			}
			int index = timer.index;
			boolean due = timer.expire(tick, Timer.FIRED);
			if (!due) {
				this.wheel.place(timer, timer.state());
			}
			list.remove(place, index);
			return due ? timer : null;
		}
	}

	@Nullable Gate gate(Object executor) {
		return this.gates.isEmpty() ? null : this.gates.get(executor);
	}

	boolean removeIfEmpty(Gate gate) {
		try (ShardLock held = lockNext()) {
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
	}

	/** An accepted hand-over frees a permit, unless another run needs it. */
	void handedOver(boolean again) {
		AtomicLong counter = again ? this.repeated : this.fired;
		// The driver is the only writer.
		counter.setRelease(counter.getPlain() + 1);
	}

	void shut() {
		try (ShardLock held = lock()) {
			this.shut = true;
		}
	}

	/**
	 * Ends all pending timers, and collects their tasks.
	 * @param last whether timers that come back later end without being collected
	 * @param current what the driver is handing over. It ends, too, unless it has begun
	 */
	void drain(ArrayList<Runnable> tasks, boolean last, @Nullable Timer current) {
		try (ShardLock held = lock()) {
			// A timer that has ended must have its place in the list.
			tasks.ensureCapacity(tasks.size() + (int) pending());
			visit((timer) -> endReturned(timer, 0, tasks));
			if (current != null && current.shard() == this) {
				endReturned(current, Timer.FIRED, tasks);
			}
			this.wheel.clear();
			this.gates.values().forEach(Gate::clear);
			this.drained |= last;
		}
	}

	void forEach(Consumer<Timer> visitor) {
		try (ShardLock held = lock()) {
			visit(visitor);
		}
	}

	private void visit(Consumer<Timer> visitor) {
		Chunk inHand = this.wheel.inHand;
		if (inHand != null) {
			inHand.forEach((timer) -> {
				// One that the driver has put back stands in a list again.
				if (timer.list() == null) {
					visitor.accept(timer);
				}
			});
		}
		this.gates.values().forEach((gate) -> gate.forEach(visitor));
		this.wheel.forEachSlot((list) -> list.forEach(visitor));
	}

	private void endReturned(Timer timer, long lowestState, ArrayList<Runnable> tasks) {
		Runnable task = timer.task();
		if (task != null && timer.end(lowestState, Timer.RETURNED)) {
			tasks.add(task);
			this.returned++;
		}
	}

	void addTo(HierarchicalTimingWheel.Totals totals) {
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

	/** With timers in hand, and next runs of running tasks. Needs the lock. */
	long pending() {
		return this.scheduled - this.cancelled - this.returned - this.fired.getAcquire();
	}

	static final class Padded extends Shard {

		@SuppressWarnings("unused")
		private long p0, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, p12, p13, p14;

		Padded(WheelClock time, DriverThread thread, Log log, int wheelSize) {
			super(time, thread, log, wheelSize);
		}

	}

}

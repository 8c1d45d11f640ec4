package io.timingwheel;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import java.util.stream.IntStream;

import io.timingwheel.internal.PendingTimers;
import org.jspecify.annotations.Nullable;

/**
 * The implementation of {@link TimingWheel}. {@link Shard}s hold the timers, the
 * {@link Driver} hands them over, and a {@link DriverThread} or a
 * {@link ManualTimeSource} calls the driver when something is due.
 *
 * <p>
 * Each shard has a quota of the limit of pending timers, so an add writes no shared data.
 * When a quota is used up, the free permits of all shards are shared out again, with all
 * locks held. So a timer is rejected only while the limit is reached. Only this class
 * holds more than one shard's lock at a time.
 */
final class HierarchicalTimingWheel implements TimingWheel, PendingTimers {

	private final Duration tick;

	private final int wheelSize;

	private final long maxPending;

	private final long stopWaitNanos;

	private final WheelClock time;

	final Shard[] shards;

	final Driver driver;

	private final DriverThread thread;

	private final @Nullable ManualTimeSource manual;

	private final LongAdder rejected = new LongAdder();

	private final AtomicBoolean stopped = new AtomicBoolean();

	/** The tasks that {@link #stop} has collected. The flag above guards them. */
	private ArrayList<Runnable> collected = new ArrayList<>();

	HierarchicalTimingWheel(WheelBuilder settings) {
		this.tick = settings.tick;
		this.wheelSize = settings.wheelSize;
		this.maxPending = settings.maxPending;
		this.stopWaitNanos = settings.stopWait.toNanos();
		this.time = new WheelClock(settings.timeSource, settings.tick.toNanos());
		this.manual = (settings.timeSource instanceof ManualTimeSource source) ? source : null;
		this.thread = new DriverThread(this.time);
		Log log = new Log(settings.errorHandler);
		this.shards = new Shard[settings.shards];
		for (int i = 0; i < this.shards.length; i++) {
			this.shards[i] = new Shard.Padded(this.time, this.thread, log, this.wheelSize);
		}
		if (this.maxPending != Long.MAX_VALUE) {
			dealOut(this.maxPending);
		}
		this.driver = new Driver(this.time, this.shards, settings.executor, log, this.manual == null);
		if (this.manual != null) {
			this.manual.add(this.driver);
		}
		else {
			this.thread.start(this.driver, settings.threadFactory);
		}
	}

	@Override
	public Timer schedule(Runnable task, long delay, TimeUnit unit) {
		return add(task, this.time.dueTick(this.time.elapsed(), unit.toNanos(delay)));
	}

	@Override
	public TimerHandle scheduleAt(Runnable task, long nanoTime) {
		return add(task, this.time.dueTickAt(nanoTime));
	}

	private Timer add(Runnable task, long dueTick) {
		Objects.requireNonNull(task, "task");
		// All timers of one thread go to the same shard, which keeps them in order.
		Shard shard = this.shards[(int) Thread.currentThread().getId() & (this.shards.length - 1)];
		Timer timer = shard.add(task, dueTick);
		return (timer != null) ? timer : addAtQuota(shard, task, dueTick);
	}

	/** The exception and the wake-up come after the locks, which all threads need. */
	private Timer addAtQuota(Shard shard, Runnable task, long dueTick) {
		Timer timer = new Timer(task, dueTick);
		boolean added = withAllLocks(() -> {
			long free = this.maxPending - countPending();
			if (free > 0) {
				shard.addLocked(timer, dueTick);
				dealOut(free - 1);
			}
			return free > 0;
		});
		if (!added) {
			this.rejected.increment();
			throw new RejectedExecutionException("The limit of " + this.maxPending + " pending timers is reached");
		}
		shard.wakeDriver();
		return timer;
	}

	private void dealOut(long free) {
		int count = this.shards.length;
		for (int i = 0; i < count; i++) {
			long share = free / count + ((i < free % count) ? 1 : 0);
			this.shards[i].quota = this.shards[i].pending() + share;
		}
	}

	private long countPending() {
		long pending = 0;
		for (Shard shard : this.shards) {
			pending += shard.pending();
		}
		return pending;
	}

	private <T> T withAllLocks(Supplier<T> action) {
		for (Shard shard : this.shards) {
			shard.lock();
		}
		try {
			return action.get();
		}
		finally {
			for (Shard shard : this.shards) {
				shard.close();
			}
		}
	}

	@Override
	public long nanoTime() {
		return this.time.source.nanoTime();
	}

	@Override
	public TimeSource timeSource() {
		return this.time.source;
	}

	@Override
	public long pending() {
		return withAllLocks(this::countPending);
	}

	@Override
	public void forEachPending(BiConsumer<? super Runnable, ? super TimerHandle> visitor) {
		List<Timer> timers = new ArrayList<>();
		for (Shard shard : this.shards) {
			shard.forEach(timers::add);
		}
		for (Timer timer : timers) {
			Runnable task = timer.task();
			if (task != null && timer.isPending()) {
				visitor.accept(task, timer);
			}
		}
	}

	private Totals totals() {
		Totals totals = new Totals(this.wheelSize);
		return withAllLocks(() -> {
			for (Shard shard : this.shards) {
				shard.addTo(totals);
			}
			return totals;
		});
	}

	@Override
	public WheelSnapshot snapshot() {
		Totals totals = totals();
		boolean stopped = this.stopped.get() || this.driver.stopped;
		return new WheelSnapshot(stopped ? WheelSnapshot.State.STOPPED : WheelSnapshot.State.RUNNING, this.tick,
				this.wheelSize, this.shards.length, totals.pending, totals.scheduled, totals.rescheduled, totals.fired,
				totals.cancelled, totals.returned, this.rejected.sum(), this.driver.refused, this.thread.wakeUps,
				Duration.ofNanos(this.driver.lagNanos()), Duration.ofNanos(this.driver.maxLag),
				nextExpiry(totals.pending), totals.levels(this.tick.toNanos()));
	}

	private @Nullable Duration nextExpiry(long pending) {
		long due = this.driver.nextHandOver();
		if (pending == 0) {
			return null;
		}
		return (due == Wheel.NEVER) ? Duration.ZERO : Duration.ofNanos(Math.max(0, this.time.nanosUntil(due)));
	}

	WheelSlots slots() {
		return new WheelSlots(this.time.now(), totals().slots());
	}

	@Override
	public List<Runnable> stop() {
		if (!this.stopped.compareAndSet(false, true)) {
			return List.of();
		}
		boolean done = false;
		try {
			this.driver.shut();
			ArrayList<Runnable> tasks = this.collected;
			this.driver.stop(tasks, this.stopWaitNanos);
			if (this.manual != null) {
				this.manual.remove(this.driver);
			}
			for (Runnable task : tasks) {
				if (task instanceof WheelScheduledTask<?> scheduled) {
					scheduled.service.ended(scheduled);
				}
			}
			this.collected = new ArrayList<>(0);
			done = true;
			return tasks;
		}
		finally {
			// After a failure for want of memory, another call goes on.
			this.stopped.set(done);
			this.thread.wakeFor(0);
		}
	}

	@Override
	public ScheduledExecutorService asScheduledExecutorService() {
		return new WheelScheduledExecutorService(this, this.time);
	}

	@Override
	public String toString() {
		return "TimingWheel[tick=%s, wheelSize=%d, shards=%d, pending=%d]".formatted(this.tick, this.wheelSize,
				this.shards.length, pending());
	}

	static final class Totals {

		private final int wheelSize;

		long pending;

		long scheduled;

		long rescheduled;

		long fired;

		long cancelled;

		long returned;

		/** By level and slot, how many shards have a timer there, for each rotation. */
		private final List<int[]> slots = new ArrayList<>();

		private final long[] timers = new long[Long.SIZE];

		Totals(int wheelSize) {
			this.wheelSize = wheelSize;
		}

		/** The caller holds the lock of the shard. */
		void add(Wheel wheel) {
			while (this.slots.size() < wheel.levels()) {
				this.slots.add(new int[this.wheelSize]);
			}
			wheel.forEachSlot((list) -> {
				int level = wheel.levelOf(list.slot);
				this.slots.get(level)[list.slot % this.wheelSize]++;
				this.timers[level] += list.size();
			});
		}

		List<List<Integer>> slots() {
			return this.slots.stream().map((level) -> IntStream.of(level).boxed().toList()).toList();
		}

		List<WheelSnapshot.Level> levels(long tickNanos) {
			List<WheelSnapshot.Level> result = new ArrayList<>(this.slots.size());
			long tick = tickNanos;
			for (int number = 0; number < this.slots.size(); number++) {
				long span = (tick > Long.MAX_VALUE / this.wheelSize) ? Long.MAX_VALUE : tick * this.wheelSize;
				int occupied = Arrays.stream(this.slots.get(number)).sum();
				result.add(new WheelSnapshot.Level(number, Duration.ofNanos(tick), Duration.ofNanos(span),
						this.timers[number], occupied));
				tick = span;
			}
			return result;
		}

	}

}

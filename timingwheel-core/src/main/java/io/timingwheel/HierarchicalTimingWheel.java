package io.timingwheel;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BiConsumer;
import java.util.function.Supplier;

import io.timingwheel.internal.PendingTimers;
import org.jspecify.annotations.Nullable;

/**
 * The implementation of {@link TimingWheel}. {@link Shard}s hold the timers, the
 * {@link Driver} hands them over, and a {@link DriverThread} or a
 * {@link ManualTimeSource} calls the driver when something is due.
 *
 * <p>
 * Each shard has a quota of the limit of pending timers, so that a thread that adds a
 * timer reads no shared data. When a quota is used up, the free permits of all shards are
 * collected and shared out again, with all locks held. A timer is therefore rejected only
 * at a moment at which the limit is reached. Only this class holds more than one shard's
 * lock at a time.
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
		Objects.requireNonNull(task, "task");
		long nanos = unit.toNanos(delay);
		return add(task, this.time.dueTick(this.time.elapsed(), nanos));
	}

	@Override
	public TimerHandle schedule(Runnable task, Duration delay) {
		return schedule(task, TimeUnit.NANOSECONDS.convert(delay), TimeUnit.NANOSECONDS);
	}

	@Override
	public TimerHandle scheduleAt(Runnable task, long nanoTime) {
		Objects.requireNonNull(task, "task");
		return add(task, this.time.dueTickAt(nanoTime));
	}

	private Timer add(Runnable task, long dueTick) {
		// All timers of one thread go to the same shard, which keeps them in order.
		Shard shard = this.shards[(int) Thread.currentThread().getId() & (this.shards.length - 1)];
		Timer timer = new Timer(task, dueTick);
		long wake = shard.add(timer, dueTick);
		if (wake == Shard.FULL) {
			wake = addAtQuota(shard, timer, dueTick);
		}
		this.thread.wakeFor(wake);
		return timer;
	}

	/**
	 * Adds a timer to a shard whose quota is used up. The exception and the wake-up come
	 * after the locks, which every other thread needs.
	 */
	private long addAtQuota(Shard shard, Timer timer, long dueTick) {
		long wake = withAllLocks(() -> {
			long free = this.maxPending - countPending();
			if (free <= 0) {
				return Shard.FULL;
			}
			long earliest = shard.addLocked(timer, dueTick);
			dealOut(free - 1);
			return earliest;
		});
		if (wake == Shard.FULL) {
			this.rejected.increment();
			throw new RejectedExecutionException("The limit of " + this.maxPending + " pending timers is reached");
		}
		return wake;
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
				shard.unlock();
			}
		}
	}

	@Override
	public long nanoTime() {
		return this.time.source().nanoTime();
	}

	@Override
	public TimeSource timeSource() {
		return this.time.source();
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

	private WheelTotals totals() {
		WheelTotals totals = new WheelTotals(this.wheelSize);
		return withAllLocks(() -> {
			for (Shard shard : this.shards) {
				shard.addTo(totals);
			}
			return totals;
		});
	}

	@Override
	public WheelSnapshot snapshot() {
		WheelTotals totals = totals();
		boolean stopped = this.stopped.get() || this.driver.isStopped();
		return new WheelSnapshot(stopped ? WheelSnapshot.State.STOPPED : WheelSnapshot.State.RUNNING, this.tick,
				this.wheelSize, this.shards.length, totals.pending, totals.scheduled, totals.rescheduled, totals.fired,
				totals.cancelled, totals.returned, this.rejected.sum(), this.driver.refused(), this.thread.wakeUps(),
				Duration.ofNanos(this.driver.lagNanos()), Duration.ofNanos(this.driver.maxLagNanos()),
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
			List<Runnable> tasks = collectTasks();
			this.collected = new ArrayList<>(0);
			done = true;
			return tasks;
		}
		finally {
			// After a failure, for example without memory, another call goes on.
			this.stopped.set(done);
			this.thread.wakeFor(Long.MIN_VALUE + 1);
		}
	}

	private List<Runnable> collectTasks() {
		this.driver.stop(this.collected, this.stopWaitNanos);
		if (this.manual != null) {
			this.manual.remove(this.driver);
		}
		for (Runnable task : this.collected) {
			if (task instanceof WheelScheduledTask<?> scheduled) {
				scheduled.service.ended(scheduled);
			}
		}
		return this.collected;
	}

	@Override
	public void close() {
		stop();
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

}

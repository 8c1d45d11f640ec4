package io.timingwheel;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import org.jspecify.annotations.Nullable;

/**
 * The implementation of {@link TimingWheel}. {@link Shards} hold the timers, the
 * {@link Driver} hands them over, and a {@link DriverThread} or a
 * {@link ManualTimeSource} calls the driver when something is due.
 */
final class HierarchicalTimingWheel implements TimingWheel {

	private final Duration tick;

	private final int wheelSize;

	private final int shardCount;

	private final WheelClock time;

	private final Alarm alarm = new Alarm();

	final Shards shards;

	final Driver driver;

	private final @Nullable DriverThread thread;

	private final @Nullable ManualTimeSource manual;

	private final long stopWaitNanos;

	private final AtomicBoolean stopped = new AtomicBoolean();

	/** The tasks that {@link #stop} has collected. The flag above guards them. */
	private List<Runnable> collected = new ArrayList<>();

	HierarchicalTimingWheel(WheelBuilder settings) {
		this.tick = settings.tick;
		this.wheelSize = settings.wheelSize;
		this.shardCount = settings.shards;
		TaskErrors errors = new TaskErrors(settings.errorHandler);
		this.time = new WheelClock(settings.timeSource, settings.tick.toNanos());
		this.stopWaitNanos = settings.stopWait.toNanos();
		WaitingTimers waiting = new WaitingTimers();
		this.shards = new Shards(settings.shards, settings.maxPending, (shard) -> new Shard.Padded(this.time,
				this.alarm, errors, waiting, new Wheel(settings.wheelSize, settings.tick.toNanos())));
		this.driver = new Driver(this.time, this.shards, settings.executor, errors, waiting,
				!(settings.timeSource instanceof ManualTimeSource));
		if (settings.timeSource instanceof ManualTimeSource source) {
			this.thread = null;
			this.manual = source;
			source.add(this.driver);
		}
		else {
			this.manual = null;
			this.thread = new DriverThread(this.driver, this.time, this.alarm, settings.threadFactory);
			this.thread.start();
		}
	}

	@Override
	public Timer schedule(Runnable task, long delay, TimeUnit unit) {
		Objects.requireNonNull(task, "task");
		long nanos = unit.toNanos(delay);
		return add(task, this.time.dueTick(this.time.elapsed(), nanos));
	}

	private Timer add(Runnable task, long dueTick) {
		Shard shard = this.shards.mine();
		Timer timer = new Timer(shard, task, dueTick);
		if (!shard.add(timer, dueTick)) {
			this.shards.addAtQuota(shard, timer, dueTick);
		}
		return timer;
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
		return this.shards.pending();
	}

	@Override
	public WheelSnapshot snapshot() {
		WheelTotals totals = this.shards.totals();
		boolean stopped = this.stopped.get() || this.driver.isStopped();
		return new WheelSnapshot(stopped ? WheelSnapshot.State.STOPPED : WheelSnapshot.State.RUNNING, this.tick,
				this.wheelSize, this.shardCount, totals.pending, totals.scheduled, totals.rescheduled, totals.fired,
				totals.cancelled, totals.returned, totals.rejected, this.driver.refused(),
				(this.thread != null) ? this.thread.wakeUps() : 0, Duration.ofNanos(this.driver.lagNanos()),
				Duration.ofNanos(this.driver.maxLagNanos()), nextExpiry(totals.pending),
				totals.levels(this.tick.toNanos(), this.wheelSize));
	}

	WheelSlots slots() {
		WheelSlots.Sums sums = new WheelSlots.Sums(this.wheelSize);
		this.shards.addTo(sums);
		return sums.at(this.time.now());
	}

	private @Nullable Duration nextExpiry(long pending) {
		long due = this.driver.nextHandOver();
		if (pending == 0) {
			return null;
		}
		return (due == Wheel.NEVER) ? Duration.ZERO : Duration.ofNanos(Math.max(0, this.time.nanosUntil(due)));
	}

	@Override
	public List<Runnable> stop() {
		if (!this.stopped.compareAndSet(false, true)) {
			return List.of();
		}
		boolean done = false;
		try {
			List<Runnable> tasks = collectTasks();
			this.collected = List.of();
			done = true;
			return tasks;
		}
		finally {
			// After a failure, for example without memory, another call goes on.
			this.stopped.set(done);
			this.alarm.wakeFor(Long.MIN_VALUE + 1);
		}
	}

	private List<Runnable> collectTasks() {
		this.shards.close();
		this.driver.stop(this.collected, this.stopWaitNanos);
		if (this.manual != null) {
			this.manual.remove(this.driver);
		}
		for (Runnable task : this.collected) {
			if (task instanceof WheelScheduledTask<?> scheduled) {
				scheduled.returned();
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
				this.shardCount, pending());
	}

}

package io.timingwheel.test;

import java.util.concurrent.Delayed;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import io.timingwheel.TimingWheel;
import io.timingwheel.spring.task.TimingWheelTaskScheduler;
import org.jspecify.annotations.Nullable;

import org.springframework.scheduling.Trigger;

/**
 * The scheduler on the wheel. A schedule of the application that has a trigger, such as a
 * cron expression, starts anew when the time is set back. Otherwise its next time would
 * be as late as the time was moved before.
 */
final class TestScheduler extends TimingWheelTaskScheduler {

	private final TestTimers timers;

	TestScheduler(TimingWheel wheel, TestTimers timers) {
		super(wheel);
		this.timers = timers;
	}

	@Override
	public @Nullable ScheduledFuture<?> schedule(Runnable task, Trigger trigger) {
		ScheduledFuture<?> first = super.schedule(task, trigger);
		if (first == null) {
			return null;
		}
		Triggered schedule = new Triggered(task, trigger, first);
		this.timers.add(schedule);
		return schedule;
	}

	/**
	 * A schedule by a trigger.
	 */
	final class Triggered implements ScheduledFuture<Object> {

		private final Runnable task;

		private final Trigger trigger;

		private volatile ScheduledFuture<?> current;

		Triggered(Runnable task, Trigger trigger, ScheduledFuture<?> first) {
			this.task = task;
			this.trigger = trigger;
			this.current = first;
		}

		void restart() {
			this.current.cancel(false);
			ScheduledFuture<?> next = TestScheduler.super.schedule(this.task, this.trigger);
			if (next != null) {
				this.current = next;
			}
		}

		@Override
		public long getDelay(TimeUnit unit) {
			return this.current.getDelay(unit);
		}

		@Override
		public int compareTo(Delayed other) {
			return (this == other) ? 0 : this.current.compareTo(other);
		}

		@Override
		public boolean cancel(boolean mayInterruptIfRunning) {
			return this.current.cancel(mayInterruptIfRunning);
		}

		@Override
		public boolean isCancelled() {
			return this.current.isCancelled();
		}

		@Override
		public boolean isDone() {
			return this.current.isDone();
		}

		@Override
		public @Nullable Object get() throws InterruptedException, ExecutionException {
			return this.current.get();
		}

		@Override
		public @Nullable Object get(long timeout, TimeUnit unit)
				throws InterruptedException, ExecutionException, TimeoutException {
			return this.current.get(timeout, unit);
		}

	}

}

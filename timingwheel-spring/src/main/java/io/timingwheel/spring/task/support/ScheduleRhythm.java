package io.timingwheel.spring.task.support;

import java.time.Duration;
import java.time.Instant;

import io.timingwheel.spring.task.Missed;
import io.timingwheel.spring.task.Schedule;
import io.timingwheel.spring.task.internal.Recurrence;
import org.jspecify.annotations.Nullable;

/**
 * The times of a schedule. A cron expression goes by the wall clock, periods go by the
 * wheel's clock.
 */
final class ScheduleRhythm implements Rhythm {

	private final Schedule schedule;

	private final Missed missed;

	private final boolean endsWithFailure;

	/** The time of the current run by the schedule. */
	private Instant scheduledAt = Instant.EPOCH;

	private Instant startedAt = Instant.EPOCH;

	ScheduleRhythm(Schedule schedule, Missed missed, boolean endsWithFailure) {
		this.schedule = schedule;
		this.missed = missed;
		this.endsWithFailure = endsWithFailure;
	}

	/**
	 * The deadline of the first run.
	 * @param initialDelay how long it is from now, {@code null} for the first time of the
	 * schedule
	 */
	Deadline first(@Nullable Duration initialDelay, TaskClock clock) {
		Deadline first;
		if (initialDelay != null) {
			first = clock.after(initialDelay);
		}
		else {
			Instant next = this.schedule.next(now(clock));
			first = (next != null) ? deadline(next, clock) : clock.after(Long.MAX_VALUE);
		}
		this.scheduledAt = time(first.dueNanos(), first.epochNanos());
		return first;
	}

	@Override
	public void begin(PendingTask task, TaskClock clock) {
		this.startedAt = now(clock);
	}

	@Override
	public @Nullable Deadline next(PendingTask task, TaskClock clock) {
		return next(nextTime(task, clock), clock);
	}

	private @Nullable Instant nextTime(PendingTask task, TaskClock clock) {
		return new Recurrence(this.scheduledAt, time(task.dueNanos(), task.dueEpochNanos()), this.startedAt)
			.next(this.schedule, this.missed, now(clock));
	}

	@Override
	public @Nullable Deadline retry(PendingTask task, Duration delay, TaskClock clock) {
		Instant next = nextTime(task, clock);
		Deadline retry = clock.after(delay);
		return (next == null || time(retry.dueNanos(), retry.epochNanos()).isBefore(next)) ? retry : null;
	}

	@Override
	public @Nullable Deadline wallClockSet(TaskClock clock) {
		return this.schedule.isCron() ? next(this.schedule.next(now(clock)), clock) : null;
	}

	private @Nullable Deadline next(@Nullable Instant next, TaskClock clock) {
		if (next == null) {
			return null;
		}
		this.scheduledAt = next;
		return deadline(next, clock);
	}

	/**
	 * When the next regular run is due, by the wall clock.
	 * @param task the task, with the deadline of the next run or attempt or, during a
	 * run, with the deadline of this run
	 * @param begun whether there has been an attempt at the run already
	 * @param clock tells the time
	 * @return the time, {@code null} if it depends on the end of the run
	 */
	@Nullable Instant regularTime(PendingTask task, boolean begun, TaskClock clock) {
		Instant dueAt = time(task.dueNanos(), task.dueEpochNanos());
		Instant next = this.scheduledAt;
		if (next.isBefore(dueAt) || (begun && next.equals(dueAt))) {
			next = this.schedule.isFixedDelay() ? null : this.schedule.next(next, dueAt);
		}
		if (next == null) {
			return null;
		}
		return TaskClock.toInstant(next.equals(dueAt) ? task.dueEpochNanos() : deadline(next, clock).epochNanos());
	}

	@Override
	public boolean endsWithFailure() {
		return this.endsWithFailure;
	}

	private Instant now(TaskClock clock) {
		long now = clock.nanoTime();
		return time(now, clock.epochNanos(now));
	}

	private Instant time(long nanos, long epochNanos) {
		return TaskClock.toInstant(this.schedule.isCron() ? epochNanos : nanos);
	}

	private Deadline deadline(Instant time, TaskClock clock) {
		if (this.schedule.isCron()) {
			return clock.at(time);
		}
		long now = clock.nanoTime();
		long delay = TaskClock.nanos(Duration.between(TaskClock.toInstant(now), time));
		return new Deadline(delay, now + delay, TaskClock.add(clock.epochNanos(now), delay), false);
	}

	@Override
	public String toString() {
		return this.schedule.toString();
	}

}

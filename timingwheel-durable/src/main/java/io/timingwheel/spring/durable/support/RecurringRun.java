package io.timingwheel.spring.durable.support;

import java.time.Duration;
import java.time.Instant;

import io.timingwheel.spring.durable.DueTime;
import io.timingwheel.spring.durable.LeasedTask;
import io.timingwheel.spring.durable.NextRun;
import io.timingwheel.spring.durable.StoredSchedule;
import io.timingwheel.spring.task.Missed;
import io.timingwheel.spring.task.Schedule;
import io.timingwheel.spring.task.internal.Recurrence;
import org.jspecify.annotations.Nullable;

/**
 * A run of a recurring task by its schedule: which time of the schedule the run has, and
 * when the next run is due. Immutable.
 */
final class RecurringRun {

	private final LeasedTask task;

	private final StoredSchedule stored;

	private final Missed missed;

	private RecurringRun(LeasedTask task, StoredSchedule stored, Missed missed) {
		this.task = task;
		this.stored = stored;
		this.missed = missed;
	}

	/**
	 * Creates a run.
	 * @param task the task
	 * @param handler its handler
	 * @return the run, {@code null} if the task is not recurring
	 */
	static @Nullable RecurringRun of(LeasedTask task, DurableHandler handler) {
		StoredSchedule stored = task.schedule();
		return (stored != null) ? new RecurringRun(task, stored, handler.missed()) : null;
	}

	/**
	 * Checks the schedule of the task before the run begins. The store may have the
	 * schedule from a newer release.
	 * @throws IllegalArgumentException if this release does not know such a schedule
	 */
	void checkSchedule() {
		schedule();
	}

	private Schedule schedule() {
		return Schedule.parse(this.stored.text());
	}

	/**
	 * When this run is due by the schedule, which all attempts at the run have in common,
	 * unless the schedule changes in between.
	 */
	Instant dueAt() {
		return Instant.ofEpochMilli(Math.min(this.stored.scheduledAt(), this.task.dueAt()));
	}

	/**
	 * Whether the schedule leaves this run out, since its time has passed.
	 * @param lateness how late the run is
	 * @param missedAfter from which lateness on a run counts as missed
	 */
	boolean isSkipped(Duration lateness, Duration missedAfter) {
		return this.missed == Missed.SKIP && lateness.compareTo(missedAfter) > 0;
	}

	/**
	 * The end of this run, with the time of the next.
	 * @param lateness how late this run has started
	 * @param ended when this run has ended, by the store's clock
	 * @param error why the run is given up, {@code null} if it is not
	 */
	NextRun next(Duration lateness, Instant ended, @Nullable String error) {
		Instant dueAt = Instant.ofEpochMilli(this.task.dueAt());
		Instant scheduledAt = Instant.ofEpochMilli(this.stored.scheduledAt());
		Schedule schedule = schedule();
		Instant next = new Recurrence(scheduledAt, firstDueAt(scheduledAt, dueAt), dueAt.plus(lateness)).next(schedule,
				this.missed, ended);
		DueTime due = (next == null) ? null
				: schedule.isFixedDelay() ? DueTime.after(Duration.between(ended, next)) : DueTime.at(next);
		return new NextRun(this.task.ref(), this.stored.text(), due, error);
	}

	/**
	 * When the first attempt at this run was due. A further attempt may come after the
	 * next time of the schedule, since the request that stores it takes a while. It does
	 * not stand for that time.
	 */
	private Instant firstDueAt(Instant scheduledAt, Instant dueAt) {
		return (this.task.attempt() > 1 && dueAt.isAfter(scheduledAt)) ? scheduledAt : dueAt;
	}

}

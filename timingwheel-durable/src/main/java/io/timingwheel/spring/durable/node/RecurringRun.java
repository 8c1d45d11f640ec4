package io.timingwheel.spring.durable.node;

import java.time.Duration;
import java.time.Instant;

import io.timingwheel.spring.durable.store.DueTime;
import io.timingwheel.spring.durable.store.LeasedTask;
import io.timingwheel.spring.durable.store.Settlement;
import io.timingwheel.spring.durable.store.StoredSchedule;
import io.timingwheel.spring.task.Missed;
import io.timingwheel.spring.task.Schedule;
import io.timingwheel.spring.task.internal.Recurrence;
import org.jspecify.annotations.Nullable;

/** Which time of a schedule a run has, and when the next run is due. */
record RecurringRun(LeasedTask task, StoredSchedule stored, Schedule schedule, Missed missed) {

	/**
	 * @return {@code null} if the task is not recurring, or this release does not know
	 * such a schedule
	 */
	static @Nullable RecurringRun of(LeasedTask task, Missed missed) {
		StoredSchedule stored = task.schedule();
		try {
			return (stored != null) ? new RecurringRun(task, stored, Schedule.parse(stored.text()), missed) : null;
		}
		catch (IllegalArgumentException ex) {
			return null;
		}
	}

	/** The same for all attempts at a run, unless the schedule changes in between. */
	Instant dueAt() {
		return Instant.ofEpochMilli(Math.min(this.stored.scheduledAt(), this.task.dueAt()));
	}

	/** Whether the schedule leaves this run out, since its time has passed. */
	boolean isSkipped(Duration lateness, Duration missedAfter) {
		return this.missed == Missed.SKIP && lateness.compareTo(missedAfter) > 0;
	}

	/**
	 * A further attempt may come after the next time of the schedule, since the request
	 * that stores it takes a while. It does not stand for that time.
	 * @param ended when this run has ended, by the store's clock
	 * @param error why the run is given up, {@code null} if it is not
	 */
	Settlement.Repeat end(Duration lateness, Instant ended, @Nullable String error) {
		Instant dueAt = Instant.ofEpochMilli(this.task.dueAt());
		Instant scheduledAt = Instant.ofEpochMilli(this.stored.scheduledAt());
		Instant firstDueAt = (this.task.attempt() > 1 && dueAt.isAfter(scheduledAt)) ? scheduledAt : dueAt;
		Instant next = new Recurrence(scheduledAt, firstDueAt, dueAt.plus(lateness)).next(this.schedule, this.missed,
				ended);
		DueTime due = (next == null) ? null
				: this.schedule.isFixedDelay() ? DueTime.after(Duration.between(ended, next)) : DueTime.at(next);
		return new Settlement.Repeat(this.task.ref(), this.stored.text(), due, error);
	}

}

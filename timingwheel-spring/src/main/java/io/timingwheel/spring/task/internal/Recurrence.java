package io.timingwheel.spring.task.internal;

import java.time.Instant;

import io.timingwheel.spring.task.Missed;
import io.timingwheel.spring.task.Schedule;
import org.jspecify.annotations.Nullable;

/**
 * One run of a task with a schedule, from which the time of the next run follows. All
 * times are by the same clock.
 *
 * @param scheduledAt the time by the schedule
 * @param dueAt when the run was due; differs from {@code scheduledAt} if somebody has
 * moved the run, or if it was a retry before the next time by the schedule
 * @param startedAt when the body started
 */
public record Recurrence(Instant scheduledAt, Instant dueAt, Instant startedAt) {

	/**
	 * The time of the next run; {@code null} if there is none. This run stands for all
	 * times up to its start, unless each is to have its own run. A run that came before
	 * its time was an additional one.
	 */
	public @Nullable Instant next(Schedule schedule, Missed missed, Instant now) {
		if (schedule.isFixedDelay()) {
			return schedule.next(now);
		}
		Instant next = this.scheduledAt;
		if (!this.scheduledAt.isAfter(this.dueAt)) {
			Instant covered = (missed != Missed.ALL && this.startedAt.isAfter(this.dueAt)) ? this.startedAt
					: this.dueAt;
			next = schedule.next(this.scheduledAt, covered);
		}
		return (missed == Missed.SKIP && next != null && !next.isAfter(now)) ? schedule.next(this.scheduledAt, now)
				: next;
	}

}

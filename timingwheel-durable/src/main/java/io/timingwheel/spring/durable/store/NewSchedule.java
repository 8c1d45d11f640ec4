package io.timingwheel.spring.durable.store;

import org.springframework.util.Assert;

/**
 * A schedule that is to be stored as a task.
 *
 * @param id the id of the task, unless it has one already with this schedule and payload
 * @param schedule the text of the schedule, at most
 * {@value DelayedTaskStore#MAX_SCHEDULE_LENGTH} characters
 * @param first when the first run is due
 * @param onlyIfLost whether to store a schedule with the key
 * {@link DelayedTaskStore#DECLARED_KEY} only if the store has lost it: it has neither a
 * task with the schedule nor the mark that a cancel leaves. A schedule that is stored
 * without this condition removes the mark. Nodes do this several times a minute
 * @since 0.1
 */
public record NewSchedule(String id, String name, String key, String payload, String schedule, DueTime first,
		boolean onlyIfLost) {

	/**
	 * @throws IllegalArgumentException as for {@link NewTask}, or if the text of the
	 * schedule is too long
	 */
	public NewSchedule {
		TaskLimits.checkName(name);
		TaskLimits.checkKey(key);
		Assert.isTrue(schedule.length() <= DelayedTaskStore.MAX_SCHEDULE_LENGTH,
				"The text of the schedule is too long");
	}

}

package io.timingwheel.spring.task;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.Executor;

import org.jspecify.annotations.Nullable;

import org.springframework.core.task.TaskRejectedException;

/**
 * The description of a task: first what the task is, then when it runs. The methods that
 * describe the task return this object. Not thread-safe.
 *
 * <pre class="code">
 * tasks.task(() -&gt; close(orderId)).id(TaskId.of("close-order", orderId)).after(Duration.ofMinutes(30));
 * tasks.task(this::report).name("report").every(Duration.ofHours(1));
 * tasks.task(this::clean).name("clean").on(Schedule.cron("0 0 3 * * *", ZoneId.of("Europe/Berlin")));
 * </pre>
 *
 * <p>
 * The methods that schedule throw {@link IllegalArgumentException} for a missing time or
 * a period that is not positive, {@link TaskRejectedException} after shutdown and beyond
 * the limit of pending tasks, and {@link DuplicateTaskException} with
 * {@link IfPending#REJECT}. The pending task then stays as it is.
 *
 * @param <T> the type of the result
 * @since 0.1
 */
public interface TaskSpec<T extends @Nullable Object> {

	/**
	 * Names the task, for metrics and the endpoint. Default: {@code unnamed}.
	 * @throws IllegalStateException if the task has an {@link #id}, which contains a name
	 */
	TaskSpec<T> name(String name);

	/** Gives the task an identity: its name and its key. */
	TaskSpec<T> id(TaskId id);

	/**
	 * Sets what to do if a task of the same identity is pending. Default:
	 * {@link IfPending#REPLACE}.
	 */
	TaskSpec<T> ifPending(IfPending ifPending);

	/**
	 * Sets how long calls that replace the pending task can put it off. The task is due
	 * at most this long after the first call since it last began. Only for a task with an
	 * identity, with {@link IfPending#REPLACE}, that runs once. Default: no limit.
	 * @throws IllegalArgumentException if it is negative
	 */
	TaskSpec<T> maxWait(Duration maxWait);

	/**
	 * Sets the executor that runs the task. Default: that of {@code @Delayed} methods.
	 * @param nameOrQualifier the name or qualifier of a bean
	 * @throws IllegalArgumentException if there is none
	 */
	TaskSpec<T> executor(String nameOrQualifier);

	/**
	 * Sets the executor that runs the task. A separate thread calls its {@code execute}
	 * method unless this method is known to return promptly.
	 */
	TaskSpec<T> executor(Executor executor);

	/**
	 * Schedules the task once.
	 * @param delay how long from now; zero and negative: as soon as possible; more than
	 * 292 years saturate
	 * @return the task; with {@link IfPending#KEEP} the one that was pending
	 */
	DelayedTask<T> after(Duration delay);

	/**
	 * Schedules the task once.
	 * @param due the time; the delay is the time from now, by the wall clock
	 * @return the task; with {@link IfPending#KEEP} the one that was pending
	 */
	DelayedTask<T> at(Instant due);

	/**
	 * Schedules the task at a fixed rate: the first run is due after one period, each
	 * further run one period after the previous one was due. Runs never overlap; late
	 * runs follow each other at once. The task ends when it is cancelled or replaced. The
	 * task also ends when a run throws an exception, which completes the future. During a
	 * run the task still holds its identity, and can be cancelled and replaced.
	 * @param period the time between the due times of two runs, in whole milliseconds, at
	 * most 100 years
	 * @return the task, whose future completes only when it ends
	 * @throws IllegalArgumentException if the period is none of a {@link Schedule#every}
	 */
	DelayedTask<T> every(Duration period);

	/**
	 * Schedules the task again and again, with a pause after each run. Everything else is
	 * as with {@link #every}.
	 * @param delay the time before the first run, and from the end of a run to the start
	 * of the next, in whole milliseconds, at most 100 years
	 * @return the task, whose future completes only when it ends
	 * @throws IllegalArgumentException if the delay is none of a
	 * {@link Schedule#fixedDelay}
	 */
	DelayedTask<T> withFixedDelay(Duration delay);

	/**
	 * Schedules the task at the times of a schedule; the first run of a period is due
	 * after one period. A run that is longer than its period is followed by one run at
	 * once, which stands for all times that have passed. Everything else is as with
	 * {@link #every}.
	 * @param schedule the times
	 * @return the task, whose future completes only when it ends
	 */
	DelayedTask<T> on(Schedule schedule);

}

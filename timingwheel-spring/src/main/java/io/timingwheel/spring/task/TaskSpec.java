package io.timingwheel.spring.task;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.Executor;

import org.jspecify.annotations.Nullable;

import org.springframework.core.task.TaskRejectedException;

/**
 * A task about to be scheduled: first what it is, then when. Not thread-safe.
 *
 * <pre class="code">
 * tasks.task(() -&gt; close(orderId)).id(TaskId.of("close-order", orderId)).after(Duration.ofMinutes(30));
 * tasks.task(this::report).name("report").every(Duration.ofHours(1));
 * </pre>
 *
 * <p>
 * The methods that schedule throw {@link IllegalArgumentException} for a missing time or
 * a period that is not positive, {@link TaskRejectedException} after shutdown and beyond
 * the limit of pending tasks, and {@link DuplicateTaskException} if so wished. Nothing
 * has changed then.
 *
 * @param <T> the type of the result
 */
public interface TaskSpec<T extends @Nullable Object> {

	/**
	 * Names the task, for metrics and the endpoint. Default: {@code unnamed}.
	 * @param name the name
	 * @return this
	 */
	TaskSpec<T> name(String name);

	/**
	 * Gives the task an identity: its name and its key.
	 * @param id the identity
	 * @return this
	 */
	TaskSpec<T> id(TaskId id);

	/**
	 * What to do if a task of the same identity is pending. Default:
	 * {@link IfPending#REPLACE}.
	 * @param ifPending what to do
	 * @return this
	 */
	TaskSpec<T> ifPending(IfPending ifPending);

	/**
	 * Where to run. Default: the executor of {@code @Delayed} methods.
	 * @param nameOrQualifier the name or qualifier of a bean
	 * @return this
	 * @throws IllegalArgumentException if there is none
	 */
	TaskSpec<T> executor(String nameOrQualifier);

	/**
	 * Where to run.
	 * @param executor the executor; one that is not known to return promptly is fed by a
	 * thread of its own
	 * @return this
	 */
	TaskSpec<T> executor(Executor executor);

	/**
	 * Schedules it once.
	 * @param delay how long from now; zero and negative: as soon as possible; more than
	 * 292 years saturate
	 * @return the task; with {@link IfPending#KEEP} the one that was pending
	 */
	DelayedTask<T> after(Duration delay);

	/**
	 * Schedules it once.
	 * @param due when; what the wall clock says now decides how long that is
	 * @return the task; with {@link IfPending#KEEP} the one that was pending
	 */
	DelayedTask<T> at(Instant due);

	/**
	 * Schedules it at a fixed rate: first after one period, then a period after the
	 * previous run was due. Runs never overlap; late ones follow each other at once. Ends
	 * when cancelled, replaced, or by an exception, with which its future completes.
	 * While it runs it still holds its identity, and can be cancelled and replaced.
	 * @param period the time between the starts
	 * @return the task, whose future completes only when it ends
	 */
	DelayedTask<T> every(Duration period);

	/**
	 * Schedules it again and again, with a pause after each run; otherwise as
	 * {@link #every}.
	 * @param delay the time before the first run, and from the end of a run to the start
	 * of the next
	 * @return the task, whose future completes only when it ends
	 */
	DelayedTask<T> withFixedDelay(Duration delay);

}

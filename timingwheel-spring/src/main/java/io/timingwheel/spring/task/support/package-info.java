/**
 * Tasks in memory, and what the advice, the stores and the auto-configuration need for
 * tasks of all kinds. Applications do not use this package: its types may change in any
 * release.
 *
 * <p>
 * The way of a task: a {@code TaskSubmission} takes its payload with the context of the
 * caller, the {@code NamedTasks} of its name put it in their map as a {@code PendingTask}
 * and on the wheel, and a {@code TaskRun} runs it on an executor.
 */
@NullMarked
package io.timingwheel.spring.task.support;

import org.jspecify.annotations.NullMarked;

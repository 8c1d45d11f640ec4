/**
 * Tasks in memory, and the types for tasks of all kinds that the advice, the stores and
 * the auto-configuration need. Applications do not use this package: its types may change
 * in any release.
 *
 * <p>
 * A task goes through three types. A {@code TaskSubmission} captures the payload with the
 * context of the caller. The {@code NamedTasks} of the name put the task into their map
 * as a {@code PendingTask}, and on the wheel. A {@code TaskRun} runs the task on an
 * executor. If the task repeats, a {@code RepeatingRun} puts it on the wheel again.
 * Operators see the pending tasks through {@code MemoryTaskReader}.
 */
@NullMarked
package io.timingwheel.spring.task.support;

import org.jspecify.annotations.NullMarked;

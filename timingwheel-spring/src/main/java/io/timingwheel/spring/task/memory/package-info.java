/**
 * Tasks in memory, and what the advice and the auto-configuration need of them.
 * Applications do not use this package: its types may change in any release.
 *
 * <p>
 * A task goes through three types. A {@code TaskSubmission} captures the payload with the
 * context of the caller. The {@code NamedTasks} of the name put the task into their map
 * as a {@code PendingTask}, and on the wheel. A {@code TaskRun} runs the task on an
 * executor. Operators see the pending tasks through {@code MemoryTaskReader}.
 *
 * <p>
 * A <em>repeating</em> task has several runs. At the end of each run {@code TaskRun} puts
 * the task on the wheel again. A <em>recurring</em> task is the repeating task of a
 * method with {@code @Recurring}: a run that fails may have further attempts, and the
 * next run comes in any case. The other repeating tasks come from the template. The first
 * exception of a run ends them.
 */
@NullMarked
package io.timingwheel.spring.task.memory;

import org.jspecify.annotations.NullMarked;

package io.timingwheel.spring.task.internal;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DurableCall;
import io.timingwheel.spring.task.Schedule;
import io.timingwheel.spring.task.TaskId;
import org.jspecify.annotations.Nullable;

/**
 * The durable tasks, as the template uses them. Thread-safe.
 */
public interface DurableTaskOperations {

	boolean owns(String name);

	List<DelayedTask<@Nullable Void>> enqueueAll(Collection<DurableCall> calls);

	DelayedTask<@Nullable Void> recur(TaskId id, Schedule schedule, @Nullable Object... arguments);

	/** Cancels a pending task of any node, or ends a schedule. */
	boolean cancel(TaskId id);

	boolean reschedule(TaskId id, Duration delay);

	Optional<DelayedTask<?>> find(TaskId id);

}

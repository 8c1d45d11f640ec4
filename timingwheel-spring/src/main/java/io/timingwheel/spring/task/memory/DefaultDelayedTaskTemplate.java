package io.timingwheel.spring.task.memory;

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;

import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DelayedTaskTemplate;
import io.timingwheel.spring.task.DurableCall;
import io.timingwheel.spring.task.Schedule;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.TaskSpec;
import io.timingwheel.spring.task.internal.DurableTaskOperations;
import io.timingwheel.spring.task.internal.TaskExecutors;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.interceptor.AsyncUncaughtExceptionHandler;
import org.springframework.util.Assert;

/**
 * Schedules tasks in memory and, if there is a store, durable ones. Thread-safe.
 */
public final class DefaultDelayedTaskTemplate extends DelayedTaskTemplate {

	private static final String ID_NULL = "The id must not be null";

	private static final String DELAY_NULL = "The delay must not be null";

	private final DelayedTaskRegistry tasks;

	private final TaskExecutors executors;

	private final AsyncUncaughtExceptionHandler exceptionHandler;

	private final @Nullable DurableTaskOperations stored;

	public DefaultDelayedTaskTemplate(DelayedTaskRegistry tasks, TaskExecutors executors,
			AsyncUncaughtExceptionHandler exceptionHandler, @Nullable DurableTaskOperations stored) {
		this.tasks = tasks;
		this.executors = executors;
		this.exceptionHandler = exceptionHandler;
		this.stored = stored;
	}

	@Override
	public TaskSpec<@Nullable Void> task(Runnable task) {
		Assert.notNull(task, "The task must not be null");
		return new DefaultTaskSpec<>(this.tasks, this.executors, this.exceptionHandler, task, false);
	}

	@Override
	public <T extends @Nullable Object> TaskSpec<T> task(Callable<T> task) {
		Assert.notNull(task, "The task must not be null");
		return new DefaultTaskSpec<>(this.tasks, this.executors, this.exceptionHandler, task, true);
	}

	@Override
	public DelayedTask<@Nullable Void> enqueue(TaskId id, Duration delay, @Nullable Object... arguments) {
		Assert.notNull(id, ID_NULL);
		Assert.notNull(delay, DELAY_NULL);
		return store().enqueueAll(List.of(DurableCall.of(id, delay, arguments))).get(0);
	}

	@Override
	public DelayedTask<@Nullable Void> enqueue(TaskId id, Instant due, @Nullable Object... arguments) {
		Assert.notNull(id, ID_NULL);
		Assert.notNull(due, "The time must not be null");
		return store().enqueueAll(List.of(DurableCall.of(id, due, arguments))).get(0);
	}

	@Override
	public List<DelayedTask<@Nullable Void>> enqueueAll(Collection<DurableCall> calls) {
		Assert.notNull(calls, "The calls must not be null");
		Assert.noNullElements(calls, "None of the calls may be null");
		return store().enqueueAll(calls);
	}

	@Override
	public DelayedTask<@Nullable Void> recur(TaskId id, Schedule schedule, @Nullable Object... arguments) {
		Assert.notNull(id, ID_NULL);
		Assert.notNull(schedule, "The schedule must not be null");
		return store().recur(id, schedule, arguments);
	}

	private DurableTaskOperations store() {
		DurableTaskOperations stored = this.stored;
		Assert.state(stored != null,
				"There is no store to keep durable tasks in: add the dependency io.timingwheel:timingwheel-jdbc or"
						+ " io.timingwheel:timingwheel-redis and set timingwheel.store.type to jdbc or redis");
		return stored;
	}

	@Override
	public boolean cancel(TaskId id) {
		Assert.notNull(id, ID_NULL);
		return this.tasks.cancel(id) || (mayBeStored(id) && store().cancel(id));
	}

	@Override
	public boolean reschedule(TaskId id, Duration delay) {
		Assert.notNull(id, ID_NULL);
		Assert.notNull(delay, DELAY_NULL);
		return this.tasks.reschedule(id, delay) || (mayBeStored(id) && store().reschedule(id, delay));
	}

	@Override
	public Optional<DelayedTask<?>> find(TaskId id) {
		Assert.notNull(id, ID_NULL);
		return this.tasks.find(id).or(() -> mayBeStored(id) ? store().find(id) : Optional.empty());
	}

	/** The store gets no requests for names that only tasks in memory have. */
	private boolean mayBeStored(TaskId id) {
		DurableTaskOperations stored = this.stored;
		return stored != null && (stored.owns(id.name()) || !this.tasks.isKnown(id.name()));
	}

	@Override
	public long pendingCount() {
		return this.tasks.pendingCount();
	}

}

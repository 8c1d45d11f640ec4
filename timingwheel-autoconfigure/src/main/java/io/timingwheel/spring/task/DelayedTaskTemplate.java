package io.timingwheel.spring.task;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;

import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;

/**
 * Schedules tasks on the wheel of the application; a bean of this type is there to be
 * injected.
 *
 * <pre class="code">
 * this.tasks.schedule(TaskId.of("close-order", order.id()), Duration.ofMinutes(30), () -&gt; close(order.id()));
 * this.tasks.cancel(TaskId.of("close-order", order.id()));
 * </pre>
 */
public class DelayedTaskTemplate implements DelayedTaskOperations {

	private final DelayedTasks tasks;

	private final TaskExecutors executors;

	/**
	 * Creates a template.
	 * @param tasks where to schedule
	 * @param executors where tasks run
	 */
	public DelayedTaskTemplate(DelayedTasks tasks, TaskExecutors executors) {
		this.tasks = tasks;
		this.executors = executors;
	}

	@Override
	public DelayedTask<@Nullable Void> schedule(Duration delay, Runnable task) {
		return task(task).after(delay);
	}

	@Override
	public <T extends @Nullable Object> DelayedTask<T> schedule(Duration delay, Callable<T> task) {
		return task(task).after(delay);
	}

	@Override
	public DelayedTask<@Nullable Void> schedule(TaskId id, Duration delay, Runnable task) {
		return task(task).id(id).after(delay);
	}

	@Override
	public TaskSpec<@Nullable Void> task(Runnable task) {
		Assert.notNull(task, "The task must not be null");
		return new DefaultTaskSpec<>(this.tasks, this.executors, CodeBody.RUNNABLE, task);
	}

	@Override
	public <T extends @Nullable Object> TaskSpec<T> task(Callable<T> task) {
		Assert.notNull(task, "The task must not be null");
		return new DefaultTaskSpec<>(this.tasks, this.executors, CodeBody.CALLABLE, task);
	}

	@Override
	public boolean cancel(TaskId id) {
		Assert.notNull(id, "The id must not be null");
		return this.tasks.cancel(id);
	}

	@Override
	public boolean reschedule(TaskId id, Duration delay) {
		Assert.notNull(id, "The id must not be null");
		Assert.notNull(delay, "The delay must not be null");
		return this.tasks.reschedule(id, delay);
	}

	@Override
	public Optional<DelayedTask<?>> find(TaskId id) {
		Assert.notNull(id, "The id must not be null");
		return this.tasks.find(id);
	}

	@Override
	public long pendingCount() {
		return this.tasks.pendingCount();
	}

}

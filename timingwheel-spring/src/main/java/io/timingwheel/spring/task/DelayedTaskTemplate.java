package io.timingwheel.spring.task;

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;

import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;

/**
 * Schedules tasks on the wheel of the application. The auto-configuration defines a bean
 * of this type. Thread-safe.
 *
 * <pre class="code">
 * this.tasks.schedule(TaskId.of("close-order", order.id()), Duration.ofMinutes(30), () -&gt; close(order.id()));
 * this.tasks.cancel(TaskId.of("close-order", order.id()));
 * </pre>
 *
 * @since 0.1
 */
public class DelayedTaskTemplate implements DelayedTaskOperations {

	private final DelayedTaskOperations operations;

	/**
	 * Creates a template.
	 * @param operations the operations that the template calls
	 */
	public DelayedTaskTemplate(DelayedTaskOperations operations) {
		Assert.notNull(operations, "The operations must not be null");
		this.operations = operations;
	}

	@Override
	public DelayedTask<@Nullable Void> schedule(Duration delay, Runnable task) {
		return this.operations.schedule(delay, task);
	}

	@Override
	public <T extends @Nullable Object> DelayedTask<T> schedule(Duration delay, Callable<T> task) {
		return this.operations.schedule(delay, task);
	}

	@Override
	public DelayedTask<@Nullable Void> schedule(TaskId id, Duration delay, Runnable task) {
		return this.operations.schedule(id, delay, task);
	}

	@Override
	public TaskSpec<@Nullable Void> task(Runnable task) {
		return this.operations.task(task);
	}

	@Override
	public <T extends @Nullable Object> TaskSpec<T> task(Callable<T> task) {
		return this.operations.task(task);
	}

	@Override
	public DelayedTask<@Nullable Void> enqueue(TaskId id, Duration delay, @Nullable Object... arguments) {
		return this.operations.enqueue(id, delay, arguments);
	}

	@Override
	public DelayedTask<@Nullable Void> enqueue(TaskId id, Instant due, @Nullable Object... arguments) {
		return this.operations.enqueue(id, due, arguments);
	}

	@Override
	public List<DelayedTask<@Nullable Void>> enqueueAll(Collection<DurableCall> calls) {
		return this.operations.enqueueAll(calls);
	}

	@Override
	public DelayedTask<@Nullable Void> recur(TaskId id, Schedule schedule, @Nullable Object... arguments) {
		return this.operations.recur(id, schedule, arguments);
	}

	@Override
	public boolean cancel(TaskId id) {
		return this.operations.cancel(id);
	}

	@Override
	public boolean reschedule(TaskId id, Duration delay) {
		return this.operations.reschedule(id, delay);
	}

	@Override
	public Optional<DelayedTask<?>> find(TaskId id) {
		return this.operations.find(id);
	}

	@Override
	public long pendingCount() {
		return this.operations.pendingCount();
	}

}

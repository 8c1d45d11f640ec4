package io.timingwheel.spring.task;

import java.time.Duration;
import java.util.concurrent.Callable;

import org.jspecify.annotations.Nullable;

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
public abstract class DelayedTaskTemplate implements DelayedTaskOperations {

	/**
	 * Creates a template.
	 */
	protected DelayedTaskTemplate() {
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

}

package io.timingwheel.spring.task;

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

	/** Creates a template. */
	protected DelayedTaskTemplate() {
	}

}

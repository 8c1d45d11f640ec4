package io.timingwheel.spring.task.support;

import org.jspecify.annotations.Nullable;

/**
 * Stands around every execution of a delayed task, for instrumentation.
 */
public interface TaskExecutionInterceptor {

	/**
	 * Called on the thread that schedules a task, before it is scheduled. What it returns
	 * is kept while the task is pending and given to {@link #intercept}.
	 * @param name the task's name
	 * @return what to keep; {@code null}, which costs nothing, for nothing
	 */
	default @Nullable Object capture(String name) {
		return null;
	}

	/**
	 * Called on the executor's thread in place of the body, within what
	 * {@link org.springframework.core.task.TaskDecorator TaskDecorators} have set up.
	 * @param execution the execution, to be called to proceed
	 * @param captured what {@link #capture} returned
	 * @return what the body returned
	 * @throws Throwable what the body threw
	 */
	@Nullable Object intercept(TaskExecution execution, @Nullable Object captured) throws Throwable;

}

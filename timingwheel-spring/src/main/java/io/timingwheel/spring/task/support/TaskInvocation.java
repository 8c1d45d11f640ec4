package io.timingwheel.spring.task.support;

import io.timingwheel.spring.task.DelayedTaskContext;
import io.timingwheel.spring.task.DelayedTaskContextHolder;
import org.jspecify.annotations.Nullable;

/**
 * Runs a body as that of a delayed task: within its {@link DelayedTaskContext} and the
 * interceptor.
 */
public final class TaskInvocation {

	private TaskInvocation() {
	}

	/**
	 * Runs the body of an execution on the current thread.
	 * @param execution the execution
	 * @param interceptor stands around the body; {@code null} for none
	 * @param captured what the interceptor captured when the task was scheduled
	 * @return what the body returned
	 * @throws Throwable what the body threw
	 */
	public static @Nullable Object within(TaskExecution execution, @Nullable TaskExecutionInterceptor interceptor,
			@Nullable Object captured) throws Throwable {
		DelayedTaskContext outer = DelayedTaskContextHolder.get();
		DelayedTaskContextHolder.set(execution);
		try {
			return (interceptor != null) ? interceptor.intercept(execution, captured) : execution.proceed();
		}
		finally {
			DelayedTaskContextHolder.set(outer);
		}
	}

}

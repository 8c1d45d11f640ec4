package io.timingwheel.spring.task.support;

import java.lang.reflect.Method;

import io.timingwheel.spring.task.DelayedTaskContext;
import org.jspecify.annotations.Nullable;

/**
 * One execution of a body, as a {@link TaskExecutionInterceptor} sees it.
 */
public interface TaskExecution extends DelayedTaskContext {

	/**
	 * The annotated method whose body runs.
	 * @return the method, {@code null} for a task of the template
	 */
	@Nullable Method method();

	/**
	 * Runs the body. To be called once, on the current thread.
	 * @return what the body returned
	 * @throws Throwable what the body threw
	 */
	@Nullable Object proceed() throws Throwable;

}

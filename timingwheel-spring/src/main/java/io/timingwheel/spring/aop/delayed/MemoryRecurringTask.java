package io.timingwheel.spring.aop.delayed;

import java.lang.reflect.Method;

import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.support.TaskDefinition;
import io.timingwheel.spring.task.support.TaskSubmission;
import org.jspecify.annotations.Nullable;

import org.springframework.core.task.TaskRejectedException;

/**
 * Runs a {@code @Recurring} method in this JVM.
 */
final class MemoryRecurringTask extends TaskDefinition<Object[]> {

	private static final Object[] NO_ARGUMENTS = {};

	private final RecurringMethod method;

	private final DelayedRuntime runtime;

	private final Runnable end;

	/**
	 * Creates a task.
	 * @param end what to do if the bean is gone
	 */
	MemoryRecurringTask(RecurringMethod method, DelayedRuntime runtime, Runnable end) {
		super(runtime.declare(method), method.name(), runtime.executor(method), null);
		this.method = method;
		this.runtime = runtime;
		this.end = end;
	}

	/**
	 * Schedules the first run.
	 * @throws InvalidAnnotatedMethodException if too many tasks are pending
	 */
	void start() {
		try {
			TaskSubmission.recur(this, RecurringMethodRegistry.KEY, NO_ARGUMENTS, this.method.schedule(),
					this.method.annotation().missed(), this.method.initialDelay());
		}
		catch (TaskRejectedException ex) {
			throw new InvalidAnnotatedMethodException(method(),
					"the first run of @Recurring cannot be scheduled (" + ex.getMessage() + ")",
					"raise timingwheel.max-pending, which has to leave a place for each method with @Recurring", ex);
		}
	}

	@Override
	protected @Nullable Object run(Object[] payload) throws Throwable {
		if (this.runtime.isGone(this.method.beanName())) {
			this.end.run();
			this.runtime.tasks().cancel(TaskId.of(this.method.name(), RecurringMethodRegistry.KEY));
			return null;
		}
		return this.runtime.invoke(this.method.beanName(), method(), payload);
	}

	@Override
	protected void handleError(Throwable error, Object[] payload) {
		this.runtime.uncaught(error, method(), payload);
	}

	@Override
	protected boolean flattens() {
		return method().getReturnType() != void.class;
	}

	@Override
	protected Method method() {
		return this.method.method();
	}

}

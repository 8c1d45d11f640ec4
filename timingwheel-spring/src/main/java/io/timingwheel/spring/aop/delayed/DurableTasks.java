package io.timingwheel.spring.aop.delayed;

import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import io.timingwheel.spring.task.DelayedTask;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/**
 * Stores the calls of one durable method, and runs stored calls on the proxy, so that all
 * other advice acts on the body.
 */
final class DurableTasks implements MethodInterceptor {

	/**
	 * The name of the stored call that the current thread is about to run. The advice
	 * lets only this one call through, and stores a call that the body makes.
	 */
	private static final ThreadLocal<@Nullable String> RUNNING = new ThreadLocal<>();

	private final TaskMethod method;

	private final TaskMethod.Values values;

	private final TaskRuntime runtime;

	private final DurableMethods.StoredCalls calls;

	/**
	 * Makes the tasks of a method known, so that stored calls can run.
	 */
	DurableTasks(TaskMethod method, TaskRuntime runtime) {
		this.method = method;
		this.values = method.values();
		this.runtime = runtime;
		this.calls = runtime.requireDurableMethods().register(runtime.durable(method, this::run));
		// Last, since the meters of the name depend on its being durable.
		runtime.declare(method);
		runtime.checkNeedsNoCaller(method,
				"its calls are stored, and its executor runs them with the security context of a caller,"
						+ " which is not stored");
	}

	@Override
	public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		if (this.method.name().equals(RUNNING.get())) {
			RUNNING.remove();
			return invocation.proceed();
		}
		@Nullable Object[] arguments = invocation.getArguments();
		DelayedTask<?> task = this.calls.store(this.method.keyOf(arguments), this.method.delayed().ifPending(),
				this.values.maxWait(), this.method.due(arguments), arguments);
		return this.method.givesResult() ? task : null;
	}

	private @Nullable Object run(@Nullable Object[] arguments) throws Throwable {
		RUNNING.set(this.method.name());
		try {
			return this.runtime.invoke(this.method, arguments);
		}
		finally {
			RUNNING.remove();
		}
	}

}

package io.timingwheel.spring.aop.delayed;

import java.util.concurrent.Executor;
import java.util.function.Supplier;

import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import io.timingwheel.spring.task.DelayedTask;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/**
 * Stores the calls of one durable method, and runs stored calls. To run a call, looks up
 * the bean, which may have any scope, and calls the method on the proxy. All other advice
 * therefore acts on the body.
 */
final class DurableMethodTasks implements MethodInterceptor {

	/**
	 * The name of the stored call that the current thread is about to run. The advice
	 * lets only this one call through. If the body calls the method again, the advice
	 * stores the new call.
	 */
	private static final ThreadLocal<@Nullable String> RUNNING = new ThreadLocal<>();

	private final DelayedMethod method;

	private final DelayedMethod.Values values;

	private final DelayedRuntime runtime;

	private final DurableMethods.StoredCalls calls;

	/**
	 * Makes the tasks of a method known, so that stored calls can run.
	 * @throws InvalidAnnotatedMethodException if the method takes arguments that cannot
	 * be stored, or its executor needs a caller
	 */
	DurableMethodTasks(DelayedMethod method, DelayedRuntime runtime) {
		this.method = method;
		this.values = method.values();
		this.runtime = runtime;
		Supplier<Executor> executor = runtime.executor(method);
		this.calls = runtime.requireDurableMethods()
			.register(new DurableMethod(method.name(), method.common().aliases(), method.method(),
					method.argumentTypes(), executor, this.values.expireAfter(), method.annotation().transactional(),
					null, this::run, (error, arguments) -> runtime.uncaught(error, method.method(), arguments)));
		// Last, since the meters of the name depend on its being durable.
		runtime.declare(method);
		DelayedRuntime.checkNeedsNoCaller(method.method(), executor,
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
		DelayedTask<?> task = this.calls.store(this.method.keyOf(arguments), this.method.annotation().ifPending(),
				this.values.maxWait(), this.method.due(arguments), arguments);
		return this.method.givesResult() ? task : null;
	}

	private @Nullable Object run(@Nullable Object[] arguments) throws Throwable {
		RUNNING.set(this.method.name());
		try {
			return this.runtime.invoke(this.method.beanName(), this.method.method(), arguments);
		}
		finally {
			RUNNING.remove();
		}
	}

}

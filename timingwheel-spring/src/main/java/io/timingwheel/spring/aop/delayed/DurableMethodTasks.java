package io.timingwheel.spring.aop.delayed;

import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import io.timingwheel.spring.task.DelayedTask;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/**
 * Stores the calls of one durable method, and runs stored calls. To run a call, looks up
 * the bean, which may have any scope, and calls the method on the proxy. All other advice
 * therefore acts on the body.
 */
final class DurableMethodTasks implements MethodTasks, DurableMethod {

	/**
	 * The name of the stored call that the current thread is about to run. The advice
	 * lets only this one call through. If the body calls the method again, the advice
	 * stores the new call.
	 */
	private static final ThreadLocal<@Nullable String> RUNNING = new ThreadLocal<>();

	private final DelayedMethod method;

	private final DelayedRuntime runtime;

	private final Supplier<Executor> executor;

	private final DurableMethods.StoredCalls calls;

	/**
	 * Makes the tasks of a method known, so that stored calls can run.
	 * @throws InvalidAnnotatedMethodException if the method takes arguments that cannot
	 * be stored, or its executor needs a caller
	 */
	DurableMethodTasks(DelayedMethod method, DelayedRuntime runtime) {
		runtime.declare(method);
		this.method = method;
		this.runtime = runtime;
		this.executor = runtime.executor(method.executor());
		this.calls = runtime.requireDurableMethods().register(this);
		DelayedRuntime.checkNeedsNoCaller(method.method(), this.executor,
				"its calls are stored, and its executor runs them with the security context of a caller,"
						+ " which is not stored");
	}

	@Override
	public @Nullable Object submit(MethodInvocation invocation) throws Throwable {
		if (name().equals(RUNNING.get())) {
			RUNNING.remove();
			return invocation.proceed();
		}
		@Nullable Object[] arguments = invocation.getArguments();
		DelayedTask<?> task = this.calls.store(this.method.keyOf(arguments), this.method.ifPending(),
				this.method.maxWait(), this.method.delay().due(arguments), arguments);
		return this.method.givesResult() ? task : null;
	}

	@Override
	public @Nullable Object invoke(@Nullable Object[] arguments) throws Throwable {
		RUNNING.set(name());
		try {
			return this.runtime.invoke(this.method.beanName(), this.method.method(), arguments);
		}
		finally {
			RUNNING.remove();
		}
	}

	@Override
	public void handleError(Throwable error, @Nullable Object[] arguments) {
		this.runtime.uncaught(error, this.method.method(), arguments);
	}

	@Override
	public String name() {
		return this.method.name();
	}

	@Override
	public List<String> aliases() {
		return this.method.aliases();
	}

	@Override
	public Method method() {
		return this.method.method();
	}

	@Override
	public boolean transactional() {
		return this.method.transactional();
	}

	@Override
	public List<Type> argumentTypes() {
		return this.method.argumentTypes();
	}

	@Override
	public Supplier<? extends Executor> executor() {
		return this.executor;
	}

	@Override
	public @Nullable Duration expireAfter() {
		return this.method.expireAfter();
	}

}

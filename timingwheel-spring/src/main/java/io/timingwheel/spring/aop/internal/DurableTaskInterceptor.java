package io.timingwheel.spring.aop.internal;

import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;

import io.timingwheel.spring.annotation.Recurring;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.internal.FutureCompletion;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/**
 * Stores the calls of one durable method, or its schedule, and runs stored ones on the
 * proxy, so that all other advice acts on the body.
 */
final class DurableTaskInterceptor implements MethodInterceptor {

	/** The name of the stored call that comes next on this thread: only this one runs. */
	private static final ThreadLocal<@Nullable String> RUNNING = new ThreadLocal<>();

	private final TaskMethod method;

	private final TaskRuntime runtime;

	private final DurableMethod.Store.@Nullable StoredCalls calls;

	DurableTaskInterceptor(TaskMethod method, TaskRuntime runtime) {
		this.method = method;
		this.runtime = runtime;
		TaskMethod.Values values = method.values();
		Recurring recurring = (method.annotation() instanceof Recurring annotation) ? annotation : null;
		DurableMethod durable = new DurableMethod(values.name(), values.aliases(), method.method(),
				method.argumentTypes(), runtime.executor(method), values.expireAfter(),
				recurring == null && method.delayed().transactional(), (recurring != null) ? recurring.missed() : null,
				this::run, (error, arguments) -> runtime.uncaught(error, method.method(), arguments));
		if (recurring != null) {
			this.calls = null;
			runtime.durableMethods()
				.registerSchedule(durable, Objects.requireNonNull(values.schedule()), values.delay());
		}
		else {
			this.calls = runtime.durableMethods().register(durable);
		}
		// Last, since the meters of the name depend on its being durable.
		runtime.declare(method);
	}

	@Override
	public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		if (this.calls == null || this.method.name().equals(RUNNING.get())) {
			RUNNING.remove();
			return invocation.proceed();
		}
		@Nullable Object[] arguments = invocation.getArguments();
		DelayedTask<?> task = this.calls.store(this.method.keyOf(arguments), this.method.delayed().ifPending(),
				this.method.values().maxWait(), this.method.due(arguments), arguments);
		return this.method.givesResult() ? task : null;
	}

	private @Nullable Object run(@Nullable Object[] arguments) throws Throwable {
		if (this.method.recurring()) {
			return runOfSchedule();
		}
		RUNNING.set(this.method.name());
		try {
			return this.runtime.invoke(this.method, arguments);
		}
		finally {
			RUNNING.remove();
		}
	}

	/**
	 * Runs the method, and waits for its future, so that the run ends with the future.
	 */
	private @Nullable Object runOfSchedule() throws Throwable {
		Object result = this.runtime.invoke(this.method, new Object[0]);
		Future<?> future = (result instanceof CompletionStage<?> stage) ? stage.toCompletableFuture()
				: (Future<?>) result;
		if (future == null) {
			return null;
		}
		try {
			return FutureCompletion.result(future);
		}
		catch (InterruptedException ex) {
			future.cancel(true);
			throw ex;
		}
	}

}

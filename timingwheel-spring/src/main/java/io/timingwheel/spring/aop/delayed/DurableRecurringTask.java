package io.timingwheel.spring.aop.delayed;

import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.function.Supplier;

import io.timingwheel.spring.task.Missed;
import org.jspecify.annotations.Nullable;

/**
 * Runs a durable {@code @Recurring} method on one of the nodes.
 */
final class DurableRecurringTask implements DurableMethod {

	private final RecurringMethod method;

	private final DelayedRuntime runtime;

	private final Supplier<Executor> executor;

	private final Runnable end;

	private DurableRecurringTask(RecurringMethod method, DelayedRuntime runtime, Runnable end) {
		this.method = method;
		this.runtime = runtime;
		this.end = end;
		this.executor = runtime.executor(method.executor());
	}

	/**
	 * Makes a method known, so that this node can run it, and declares its schedule. The
	 * schedule is stored when the node starts.
	 * @param end what to do if the bean is gone
	 */
	static void register(RecurringMethod method, DelayedRuntime runtime, Runnable end) {
		runtime.declare(method);
		runtime.requireDurableMethods()
			.registerSchedule(new DurableRecurringTask(method, runtime, end), method.requiredSchedule(),
					method.initialDelay());
	}

	/**
	 * Runs the method. Waits for its future, so that the run ends with the future.
	 */
	@Override
	public @Nullable Object invoke(@Nullable Object[] arguments) throws Throwable {
		if (this.runtime.isGone(this.method.beanName())) {
			this.runtime.requireDurableMethods().unregister(this);
			this.end.run();
			throw new IllegalStateException("The bean \"%s\" is gone".formatted(this.method.beanName()));
		}
		Object result = this.runtime.invoke(this.method.beanName(), method(), arguments);
		Future<?> future = (result instanceof Future<?> given) ? given
				: (result instanceof CompletionStage<?> stage) ? stage.toCompletableFuture() : null;
		if (future == null) {
			return null;
		}
		try {
			return future.get();
		}
		catch (ExecutionException ex) {
			throw (ex.getCause() != null) ? ex.getCause() : ex;
		}
		catch (InterruptedException ex) {
			future.cancel(true);
			throw ex;
		}
	}

	@Override
	public void handleError(Throwable error, @Nullable Object[] arguments) {
		this.runtime.uncaught(error, method(), arguments);
	}

	@Override
	public String name() {
		return this.method.name();
	}

	@Override
	public Method method() {
		return this.method.method();
	}

	@Override
	public List<Type> argumentTypes() {
		return List.of();
	}

	@Override
	public Supplier<? extends Executor> executor() {
		return this.executor;
	}

	@Override
	public Missed missed() {
		return this.method.missed();
	}

	@Override
	public boolean recurring() {
		return true;
	}

}

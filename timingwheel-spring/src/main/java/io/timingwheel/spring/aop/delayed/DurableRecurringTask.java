package io.timingwheel.spring.aop.delayed;

import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;

import org.jspecify.annotations.Nullable;

/**
 * Runs a durable {@code @Recurring} method on one of the nodes.
 */
final class DurableRecurringTask {

	private final RecurringMethod method;

	private final DelayedRuntime runtime;

	private final Runnable end;

	private final DurableMethod durable;

	/**
	 * Makes a method known, so that this node can run it, and declares its schedule. The
	 * schedule is stored when the node starts.
	 * @param end what to do if the bean is gone
	 */
	DurableRecurringTask(RecurringMethod method, DelayedRuntime runtime, Runnable end) {
		this.method = method;
		this.runtime = runtime;
		this.end = end;
		this.durable = new DurableMethod(method.name(), List.of(), method.method(), List.of(), runtime.executor(method),
				null, false, method.annotation().missed(), this::run,
				(error, arguments) -> runtime.uncaught(error, method.method(), arguments));
		runtime.requireDurableMethods().registerSchedule(this.durable, method.schedule(), method.initialDelay());
	}

	/**
	 * Runs the method. Waits for its future, so that the run ends with the future.
	 */
	private @Nullable Object run(@Nullable Object[] arguments) throws Throwable {
		if (this.runtime.isGone(this.method.beanName())) {
			this.runtime.requireDurableMethods().unregister(this.durable);
			this.end.run();
			throw new IllegalStateException("The bean \"%s\" is gone".formatted(this.method.beanName()));
		}
		Object result = this.runtime.invoke(this.method.beanName(), this.method.method(), arguments);
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

}

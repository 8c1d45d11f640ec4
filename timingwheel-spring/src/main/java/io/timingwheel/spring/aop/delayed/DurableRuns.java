package io.timingwheel.spring.aop.delayed;

import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;

import io.timingwheel.spring.task.internal.FutureCompletion;
import org.jspecify.annotations.Nullable;

/**
 * Runs a durable {@code @Recurring} method on one of the nodes.
 */
final class DurableRuns {

	private final TaskMethod method;

	private final TaskRuntime runtime;

	private final Runnable end;

	private final DurableMethod durable;

	/**
	 * Makes a method known, so that this node can run it, and declares its schedule.
	 */
	DurableRuns(TaskMethod method, TaskRuntime runtime, Runnable end) {
		this.method = method;
		this.runtime = runtime;
		this.end = end;
		this.durable = runtime.durable(method, this::run);
		runtime.requireDurableMethods()
			.registerSchedule(this.durable, method.values().requiredSchedule(), method.values().initialDelay());
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
		Object result = this.runtime.invoke(this.method, arguments);
		Future<?> future = (result instanceof Future<?> given) ? given
				: (result instanceof CompletionStage<?> stage) ? stage.toCompletableFuture() : null;
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

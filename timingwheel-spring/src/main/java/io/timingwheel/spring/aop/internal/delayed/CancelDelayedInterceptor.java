package io.timingwheel.spring.aop.internal.delayed;

import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.function.BiConsumer;

import io.timingwheel.spring.aop.internal.delayed.CancelDelayedBeanPostProcessor.Cancellation;
import io.timingwheel.spring.aop.internal.AnnotatedMethods;
import io.timingwheel.spring.aop.internal.ReactiveTypes;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.internal.FutureCompletion;
import io.timingwheel.spring.task.internal.Transactions;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/**
 * The advice for {@code @CancelDelayed}. It is the innermost advice, so that a
 * surrounding transaction is still open when the method has returned.
 */
final class CancelDelayedInterceptor implements MethodInterceptor {

	private final CancelDelayedBeanPostProcessor methods;

	private final TaskRuntime runtime;

	CancelDelayedInterceptor(CancelDelayedBeanPostProcessor methods, TaskRuntime runtime) {
		this.methods = methods;
		this.runtime = runtime;
	}

	@Override
	public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		Class<?> targetClass = AnnotatedMethods.targetClass(invocation);
		Cancellation method = Objects.requireNonNull(
				this.methods.of(targetClass).get(AnnotatedMethods.mostSpecific(invocation.getMethod(), targetClass)));
		PendingCancellation cancellation = new PendingCancellation(
				new TaskId(method.name(), method.key().key(invocation.getArguments()).toString()), this.runtime);
		if (method.beforeInvocation()) {
			cancellation.run();
			return invocation.proceed();
		}
		Object result = invocation.proceed();
		boolean future = result instanceof Future<?> || result instanceof CompletionStage<?>;
		if (result != null && !future && ReactiveTypes.REACTOR_PRESENT) {
			Object publisher = ReactorCancellation.apply(result, invocation.getMethod().getReturnType(), cancellation);
			if (publisher != null) {
				return publisher;
			}
		}
		cancelOnSuccess(cancellation, completion(result));
		return result;
	}

	/**
	 * The completion of what a method returned, which is now if it is no future.
	 */
	private CompletableFuture<@Nullable Object> completion(@Nullable Object result) {
		CompletableFuture<@Nullable Object> completion = new CompletableFuture<>();
		BiConsumer<@Nullable Object, @Nullable Throwable> callback = (value, error) -> {
			if (error == null) {
				completion.complete(value);
			}
			else {
				completion.completeExceptionally(error);
			}
		};
		if (!FutureCompletion.whenDone(result, this.runtime.tasks().completions(), callback)) {
			completion.complete(null);
		}
		return completion;
	}

	/**
	 * Cancels a task once a future has completed normally. One that is done is like a
	 * normal return. Any other cancels after the commit of the caller's transaction.
	 */
	private static void cancelOnSuccess(PendingCancellation cancellation, CompletableFuture<?> completion) {
		Runnable wait = () -> completion.thenRun(cancellation::runOrLog);
		if (completion.isDone()) {
			if (!completion.isCompletedExceptionally()) {
				cancellation.runWithTransaction();
			}
		}
		else if (Transactions.isActive()) {
			Transactions.afterCompletion(wait, () -> {
			});
		}
		else {
			wait.run();
		}
	}

}

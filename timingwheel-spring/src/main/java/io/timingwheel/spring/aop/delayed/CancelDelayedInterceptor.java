package io.timingwheel.spring.aop.delayed;

import java.lang.reflect.Method;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.function.BiConsumer;

import io.timingwheel.spring.aop.delayed.CancelDelayedMethodRegistry.Cancellation;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.internal.FutureCompletion;
import io.timingwheel.spring.task.internal.Transactions;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.util.ClassUtils;

/**
 * The advice for {@code @CancelDelayed}. It is the innermost advice, so that a
 * surrounding transaction is still open when the method has returned.
 */
final class CancelDelayedInterceptor implements MethodInterceptor {

	private static final boolean REACTOR_PRESENT = ClassUtils.isPresent("reactor.core.publisher.Mono",
			CancelDelayedInterceptor.class.getClassLoader());

	private final CancelDelayedMethodRegistry methods;

	private final DelayedRuntime runtime;

	private final Map<Method, Cancellation> cancellations = new ConcurrentHashMap<>();

	CancelDelayedInterceptor(CancelDelayedMethodRegistry methods, DelayedRuntime runtime) {
		this.methods = methods;
		this.runtime = runtime;
	}

	@Override
	public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		Cancellation method = find(invocation);
		TaskId taskId = new TaskId(method.name(), method.key().key(invocation.getArguments()).toString());
		TaskCancellation cancellation = new TaskCancellation(taskId, this.runtime);
		if (method.beforeInvocation()) {
			cancellation.run();
			return invocation.proceed();
		}
		Object result = invocation.proceed();
		if (result instanceof CompletionStage<?> stage) {
			cancelOnSuccess(cancellation, futureOf(stage));
			return result;
		}
		if (result instanceof Future<?> future && FutureCompletion.showsResult(future)) {
			cancelOnSuccess(cancellation, future);
			return result;
		}
		if (result != null && REACTOR_PRESENT) {
			Object publisher = ReactorCancellation.apply(result, invocation.getMethod().getReturnType(), cancellation);
			if (publisher != null) {
				return publisher;
			}
		}
		cancellation.runWithTransaction();
		return result;
	}

	private static CompletableFuture<@Nullable Object> futureOf(CompletionStage<?> stage) {
		CompletableFuture<@Nullable Object> future = new CompletableFuture<>();
		stage.whenComplete((value, error) -> {
			if (error == null) {
				future.complete(null);
			}
			else {
				future.completeExceptionally(error);
			}
		});
		return future;
	}

	/**
	 * Cancels a task once a future has completed normally. If the future completes before
	 * the end of the caller's transaction, this is like a normal return at that time.
	 * Otherwise the task is cancelled at the completion, if the transaction commits.
	 */
	private void cancelOnSuccess(TaskCancellation cancellation, Future<?> future) {
		if (!Transactions.isActive()) {
			whenSucceeded(future, cancellation::runOrLog);
		}
		else if (future.isDone()) {
			whenSucceeded(future, cancellation::runWithTransaction);
		}
		else {
			Transactions.when(future::isDone, () -> whenSucceeded(future, cancellation::runWithTransaction),
					() -> whenSucceeded(future, cancellation::runOrLog));
		}
	}

	/**
	 * Runs an action at once if the future has completed. The caller gets an exception of
	 * the action then.
	 */
	private void whenSucceeded(Future<?> future, Runnable action) {
		BiConsumer<@Nullable Object, @Nullable Throwable> callback = (value, error) -> {
			if (error == null) {
				action.run();
			}
		};
		if (future instanceof CompletableFuture<?> completable && !future.isDone()) {
			completable.whenComplete(callback);
		}
		else {
			FutureCompletion.whenDone(future, this.runtime.tasks().completions(), callback);
		}
	}

	private Cancellation find(MethodInvocation invocation) {
		InvokedMethod invoked = InvokedMethod.of(invocation);
		Cancellation known = this.cancellations.get(invocation.getMethod());
		if (known != null && known.method().equals(invoked.method())) {
			return known;
		}
		Cancellation method = invoked.find("@CancelDelayed", this.methods.of(invoked.targetClass()));
		this.cancellations.put(invocation.getMethod(), method);
		return method;
	}

}

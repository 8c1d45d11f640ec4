package io.timingwheel.spring.aop.delayed;

import java.lang.reflect.Method;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.function.BiConsumer;

import io.timingwheel.spring.aop.delayed.CancelDelayedBeanPostProcessor.Cancellation;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.internal.FutureCompletion;
import io.timingwheel.spring.task.internal.Transactions;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;
import org.springframework.util.ClassUtils;

/**
 * The advice for {@code @CancelDelayed}. It is the innermost advice, so that a
 * surrounding transaction is still open when the method has returned.
 */
final class CancelDelayedInterceptor implements MethodInterceptor {

	private static final boolean REACTOR_PRESENT = ClassUtils.isPresent("reactor.core.publisher.Mono",
			CancelDelayedInterceptor.class.getClassLoader());

	private final CancelDelayedBeanPostProcessor methods;

	private final TaskRuntime runtime;

	private final Map<Method, Cancellation> cancellations = new ConcurrentHashMap<>();

	CancelDelayedInterceptor(CancelDelayedBeanPostProcessor methods, TaskRuntime runtime) {
		this.methods = methods;
		this.runtime = runtime;
	}

	@Override
	public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		Cancellation method = find(invocation);
		TaskId taskId = new TaskId(method.name(), method.key().key(invocation.getArguments()).toString());
		PendingCancellation cancellation = new PendingCancellation(taskId, this.runtime);
		if (method.beforeInvocation()) {
			cancellation.run();
			return invocation.proceed();
		}
		Object result = invocation.proceed();
		if (result instanceof CompletionStage<?>
				|| (result instanceof Future<?> future && FutureCompletion.showsResult(future))) {
			cancelOnSuccess(cancellation, success(result));
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

	/**
	 * Whether a future completes normally.
	 */
	private CompletableFuture<Boolean> success(Object future) {
		CompletableFuture<Boolean> success = new CompletableFuture<>();
		BiConsumer<@Nullable Object, @Nullable Throwable> callback = (value, error) -> success.complete(error == null);
		if (future instanceof CompletionStage<?> stage) {
			FutureCompletion.whenDone(stage, callback);
		}
		else {
			FutureCompletion.whenDone((Future<?>) future, this.runtime.tasks().completions(), callback);
		}
		return success;
	}

	/**
	 * Cancels a task once a future has completed normally. One that is done is like a
	 * normal return. Any other cancels after the commit of the caller's transaction.
	 */
	private static void cancelOnSuccess(PendingCancellation cancellation, CompletableFuture<Boolean> success) {
		if (success.isDone()) {
			if (success.join()) {
				cancellation.runWithTransaction();
			}
			return;
		}
		Runnable wait = () -> success.thenAccept((succeeded) -> {
			if (succeeded) {
				cancellation.runOrLog();
			}
		});
		if (Transactions.isActive()) {
			Transactions.afterCompletion(wait, () -> {
			});
		}
		else {
			wait.run();
		}
	}

	private Cancellation find(MethodInvocation invocation) {
		InvokedMethod invoked = InvokedMethod.of(invocation);
		Cancellation known = this.cancellations.get(invocation.getMethod());
		if (known != null && known.method().equals(invoked.method())) {
			return known;
		}
		Cancellation method = this.methods.of(invoked.targetClass()).get(invoked.method());
		Assert.state(method != null, () -> "No @CancelDelayed on " + invoked.method());
		this.cancellations.put(invocation.getMethod(), method);
		return method;
	}

}

package io.timingwheel.spring.aop.delayed;

import java.lang.reflect.Method;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;

import io.timingwheel.spring.aop.AnnotatedMethods;
import io.timingwheel.spring.aop.delayed.CancelDelayedMethodRegistry.Cancellation;
import io.timingwheel.spring.durable.support.DurableTaskManager;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.support.FutureCompletion;
import io.timingwheel.spring.task.support.Transactions;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * The advice for {@code @CancelDelayed}. It is the innermost advice, so that a
 * surrounding transaction is still open when the method has returned.
 */
final class CancelDelayedInterceptor implements MethodInterceptor {

	private static final Log logger = LogFactory.getLog(CancelDelayedInterceptor.class);

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
		TaskId taskId = TaskId.of(method.name(), method.key().key(invocation.getArguments()));
		if (method.beforeInvocation()) {
			cancel(taskId);
			return invocation.proceed();
		}
		Object result = invocation.proceed();
		if (!Transactions.isActive()) {
			cancelOnSuccess(taskId, result);
		}
		else if (!(result instanceof Future || result instanceof CompletionStage)
				&& this.runtime.storeOf(taskId) != null) {
			// A store that takes no part in the transaction cancels after the commit.
			cancel(taskId);
		}
		else {
			Transactions.afterCompletion(() -> cancelOnSuccess(taskId, result), () -> {
			});
		}
		return result;
	}

	private void cancelOnSuccess(TaskId taskId, @Nullable Object result) {
		if (result instanceof CompletionStage<?> stage) {
			stage.whenComplete((value, error) -> {
				if (error == null) {
					cancelLater(taskId);
				}
			});
		}
		else if (result instanceof Future<?> future) {
			FutureCompletion.whenDone(future, ForkJoinPool.commonPool(), (value, error) -> {
				if (error == null) {
					cancelLater(taskId);
				}
			});
		}
		else {
			cancel(taskId);
		}
	}

	/**
	 * Cancels a task when no caller can get an exception of the store. Logs the
	 * exception.
	 */
	private void cancelLater(TaskId taskId) {
		try {
			cancel(taskId);
		}
		catch (RuntimeException ex) {
			logger.error("The task \"%s\" could not be cancelled".formatted(taskId.name()), ex);
		}
	}

	private void cancel(TaskId taskId) {
		DurableTaskManager durable = this.runtime.storeOf(taskId);
		if (durable != null) {
			durable.cancel(taskId);
		}
		else {
			this.runtime.tasks().cancel(taskId);
		}
	}

	private Cancellation find(MethodInvocation invocation) {
		Cancellation known = this.cancellations.get(invocation.getMethod());
		Class<?> targetClass = DelayedInterceptor.targetClass(invocation);
		Method specific = AnnotatedMethods.mostSpecific(invocation.getMethod(), targetClass);
		if (known != null && known.method().equals(specific)) {
			return known;
		}
		Cancellation method = this.methods.of(targetClass).get(specific);
		if (method == null) {
			throw new IllegalStateException("No @CancelDelayed on " + specific);
		}
		this.cancellations.put(invocation.getMethod(), method);
		return method;
	}

}

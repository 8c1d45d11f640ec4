package io.timingwheel.spring.aop.internal.timeout;

import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;

import io.timingwheel.spring.aop.internal.timeout.LaterResult.Limiter;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.core.task.AsyncTaskExecutor;
import org.springframework.http.HttpEntity;
import org.springframework.util.ReflectionUtils;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.context.request.async.WebAsyncTask;

/**
 * Limits the asynchronous results of Spring MVC controllers. Only this class needs Spring
 * Web.
 */
final class WebTimeout {

	private WebTimeout() {
	}

	static @Nullable Limiter limiter(Class<?> type) {
		if (DeferredResult.class.isAssignableFrom(type)) {
			return (returned, guard) -> deferred((DeferredResult<?>) returned, guard);
		}
		if (WebAsyncTask.class.isAssignableFrom(type)) {
			return (returned, guard) -> guard.call().limit().mayReturn(WebAsyncTask.class)
					? new LimitedTask<>((WebAsyncTask<?>) returned, guard.call()) : returned;
		}
		return HttpEntity.class.isAssignableFrom(type) ? (returned, guard) -> LaterResult.checkContent(returned,
				((HttpEntity<?>) returned).getBody(), guard.call()) : null;
	}

	/**
	 * Lets the deadline set the result. The object cannot tell us that it is complete, so
	 * the timer stays until the deadline.
	 */
	private static <T> Object deferred(DeferredResult<T> source, InterruptGuard guard) {
		if (source.isSetOrExpired()) {
			return source;
		}
		CompletableFuture<T> result = new CompletableFuture<>();
		result.whenComplete((value, failure) -> {
			if (failure != null) {
				source.setErrorResult(failure);
			}
			else {
				source.setResult(value);
			}
		});
		guard.handOver(FutureTimeout.expiry(guard.call(), result, () -> !source.isSetOrExpired()));
		return source;
	}

	static @Nullable Object use(@Nullable Object value) throws Exception {
		return (value instanceof WebAsyncTask<?> task) ? task.getCallable().call() : value;
	}

	static boolean whenDone(@Nullable Object value, BiConsumer<@Nullable Object, @Nullable Throwable> callback) {
		if (!(value instanceof DeferredResult<?> deferred)) {
			return false;
		}
		deferred.setResultHandler((result) -> {
			boolean failed = result instanceof Throwable;
			callback.accept(failed ? null : result, failed ? (Throwable) result : null);
		});
		return true;
	}

	/**
	 * A task with the settings and the callbacks of another one, whose work is limited.
	 */
	private static final class LimitedTask<V> extends WebAsyncTask<V> {

		private final WebAsyncTask<V> source;

		@SuppressWarnings("unchecked")
		LimitedTask(WebAsyncTask<V> source, LimitedCall call) {
			super(() -> call.runLater((Callable<V>) source.getCallable()));
			this.source = source;
			// The callbacks have no getters.
			ReflectionUtils.doWithFields(WebAsyncTask.class, (field) -> {
				ReflectionUtils.makeAccessible(field);
				field.set(this, field.get(source));
			}, ReflectionUtils.COPYABLE_FIELDS);
		}

		@Override
		public @Nullable Long getTimeout() {
			return this.source.getTimeout();
		}

		@Override
		public void setBeanFactory(BeanFactory beanFactory) {
			this.source.setBeanFactory(beanFactory);
		}

		@Override
		public @Nullable AsyncTaskExecutor getExecutor() {
			return this.source.getExecutor();
		}

	}

}

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
			return (returned, guard) -> limit((DeferredResult<?>) returned, guard);
		}
		if (WebAsyncTask.class.isAssignableFrom(type)) {
			return LaterResult.replacing(WebAsyncTask.class,
					(returned, guard) -> new LimitedTask<>((WebAsyncTask<?>) returned, guard.call()));
		}
		return HttpEntity.class.isAssignableFrom(type)
				? (returned, guard) -> LaterResult.checkContent(returned, ((HttpEntity<?>) returned).getBody(), guard)
				: null;
	}

	/**
	 * Lets the deadline set the result. The object cannot tell us that it is complete, so
	 * the timer stays until the deadline.
	 */
	private static Object limit(DeferredResult<?> source, InterruptGuard guard) {
		if (!source.isSetOrExpired()) {
			CompletableFuture<Object> afterDeadline = new CompletableFuture<>();
			afterDeadline.whenComplete((value, failure) -> source.setErrorResult((failure != null) ? failure : value));
			guard.handOver(FutureTimeout.expiry(guard.call(), afterDeadline, () -> !source.isSetOrExpired()));
		}
		return source;
	}

	static @Nullable Object use(@Nullable Object value) throws Exception {
		return (value instanceof WebAsyncTask<?> task) ? task.getCallable().call() : value;
	}

	static boolean whenDone(@Nullable Object value, BiConsumer<@Nullable Object, @Nullable Throwable> callback) {
		if (!(value instanceof DeferredResult<?> deferred)) {
			return false;
		}
		deferred.setResultHandler((result) -> callback.accept(result, null));
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

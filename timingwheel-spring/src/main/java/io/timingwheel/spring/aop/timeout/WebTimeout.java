package io.timingwheel.spring.aop.timeout;

import java.lang.reflect.Field;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;

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

	static @Nullable FutureTimeout startedWork(Object returned, InterruptGuard guard) {
		return (returned instanceof DeferredResult<?> result && !result.isSetOrExpired())
				? new OfDeferredResult<>(result, guard) : null;
	}

	static @Nullable Object apply(Object returned, LimitedCall call) {
		return (returned instanceof WebAsyncTask<?> task
				&& call.limit().returnType().isAssignableFrom(WebAsyncTask.class))
						? new LimitedWebAsyncTask<>(task, call) : null;
	}

	static boolean mayHaveBody(Class<?> type) {
		return HttpEntity.class.isAssignableFrom(type);
	}

	static @Nullable Object body(Object returned) {
		return (returned instanceof HttpEntity<?> entity) ? entity.getBody() : null;
	}

	/**
	 * At the deadline the object that the method returned gets the timeout or the result
	 * of the fallback. It cannot tell us that it is complete, so the timer stays until
	 * the deadline.
	 */
	private static final class OfDeferredResult<T> extends FutureTimeout {

		private final DeferredResult<T> source;

		OfDeferredResult(DeferredResult<T> source, InterruptGuard guard) {
			super(guard);
			this.source = source;
		}

		@Override
		Object start() {
			return this.source;
		}

		@Override
		void expire() {
			if (this.source.isSetOrExpired()) {
				return;
			}
			this.call.notifyListeners();
			CompletableFuture<T> result = new CompletableFuture<>();
			completeAfterDeadline(result);
			result.whenComplete((value, failure) -> {
				if (failure != null) {
					this.source.setErrorResult(failure);
				}
				else {
					this.source.setResult(value);
				}
			});
		}

		@Override
		void follow(@Nullable Object value, BiConsumer<@Nullable Object, @Nullable Throwable> completion) {
			if (value instanceof DeferredResult<?> fallback) {
				fallback.setResultHandler((result) -> completion.accept((result instanceof Throwable) ? null : result,
						(result instanceof Throwable failure) ? failure : null));
			}
			else {
				super.follow(value, completion);
			}
		}

	}

	/**
	 * A task with the settings and the callbacks of another one, whose work is limited.
	 */
	private static final class LimitedWebAsyncTask<V> extends WebAsyncTask<V> {

		private final WebAsyncTask<V> source;

		LimitedWebAsyncTask(WebAsyncTask<V> source, LimitedCall call) {
			super(limited(source, call));
			this.source = source;
			copyCallbacks();
		}

		@SuppressWarnings("unchecked")
		private static <V> Callable<V> limited(WebAsyncTask<V> source, LimitedCall call) {
			return () -> call.runLater((Callable<V>) source.getCallable(),
					(value) -> (value instanceof WebAsyncTask<?> fallback) ? fallback.getCallable().call() : value);
		}

		/**
		 * Copies the callbacks, for which there are no methods.
		 */
		@SuppressWarnings("unchecked")
		private void copyCallbacks() {
			if (callback("timeoutCallback") instanceof Callable<?> callback) {
				onTimeout((Callable<V>) callback);
			}
			if (callback("errorCallback") instanceof Callable<?> callback) {
				onError((Callable<V>) callback);
			}
			if (callback("completionCallback") instanceof Runnable callback) {
				onCompletion(callback);
			}
		}

		private @Nullable Object callback(String name) {
			Field field = ReflectionUtils.findField(WebAsyncTask.class, name);
			if (field == null) {
				return null;
			}
			ReflectionUtils.makeAccessible(field);
			return ReflectionUtils.getField(field, this.source);
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

package io.timingwheel.spring.aop.internal.timeout;

import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;

import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import io.timingwheel.spring.aop.internal.ReactiveTypes;
import io.timingwheel.spring.task.internal.FutureCompletion;
import org.jspecify.annotations.Nullable;

import org.springframework.core.ReactiveAdapter;

/**
 * Limits the results whose work goes on, or begins, after the method has returned. Each
 * class of objects has one {@link Limiter}.
 */
final class LaterResult {

	private static final boolean WEB_PRESENT = LaterTypes
		.isPresent("org.springframework.web.context.request.async.DeferredResult");

	private static final ClassValue<Limiter> LIMITERS = new ClassValue<>() {

		@Override
		protected Limiter computeValue(Class<?> type) {
			return limiter(type);
		}

	};

	private LaterResult() {
	}

	private static Limiter limiter(Class<?> type) {
		if (LaterTypes.isFuture(type)) {
			return FutureTimeout::limit;
		}
		ReactiveAdapter adapter = ReactiveTypes.REACTOR_PRESENT ? ReactiveTypes.adapterOf(type) : null;
		if (adapter != null) {
			return replacing(adapter.getReactiveType(),
					(returned, guard) -> ReactorTimeout.limit(returned, guard, adapter));
		}
		Limiter web = WEB_PRESENT ? WebTimeout.limiter(type) : null;
		if (web != null) {
			return web;
		}
		if (Callable.class.isAssignableFrom(type)) {
			return replacing(Callable.class,
					(returned, guard) -> (Callable<?>) () -> guard.call().runLater((Callable<?>) returned));
		}
		if (type == Optional.class) {
			return (returned, guard) -> checkContent(returned, ((Optional<?>) returned).orElse(null), guard);
		}
		// A class that the method declares was checked at the start.
		return (returned, guard) -> (guard.call().limit().returnType() == Object.class)
				? checkContent(returned, returned, guard) : returned;
	}

	/**
	 * Leaves an object alone if the caller does not accept one of another type in its
	 * place.
	 */
	static Limiter replacing(Class<?> type, Limiter limiter) {
		return (returned, guard) -> guard.call().limit().mayReturn(type) ? limiter.limit(returned, guard) : returned;
	}

	/**
	 * Limits what a method returned. If the work has begun, the guard is handed over.
	 */
	static @Nullable Object limit(@Nullable Object returned, @Nullable InterruptGuard guard) {
		return (returned != null && guard != null) ? LIMITERS.get(returned.getClass()).limit(returned, guard)
				: returned;
	}

	static Object checkContent(Object returned, @Nullable Object content, InterruptGuard guard) {
		if (content != null && LaterTypes.isLaterOrStarted(content.getClass())) {
			throw unlimited(content, guard);
		}
		return returned;
	}

	static IllegalStateException unlimited(Object object, InterruptGuard guard) {
		return new IllegalStateException(
				"%s: @Timeout cannot limit the work of the %s, which comes after the return of the method; return the result itself, or a CompletableFuture, a publisher or a Callable of it"
					.formatted(InvalidAnnotatedMethodException.describe(guard.call().limit().method()),
							object.getClass().getName()));
	}

	/** Does the work that a fallback has returned. */
	static @Nullable Object use(@Nullable Object value) throws Exception {
		if (value instanceof Callable<?> callable) {
			return callable.call();
		}
		return WEB_PRESENT ? WebTimeout.use(value) : value;
	}

	/** Calls back when the result of a fallback is there. */
	static void whenDone(@Nullable Object value, Executor executor,
			BiConsumer<@Nullable Object, @Nullable Throwable> callback) {
		if (!FutureCompletion.whenDone(value, executor, callback)
				&& (!WEB_PRESENT || !WebTimeout.whenDone(value, callback))) {
			callback.accept(value, null);
		}
	}

	/** Gives what the caller gets in place of an object of a class. */
	@FunctionalInterface
	interface Limiter {

		Object limit(Object returned, InterruptGuard guard);

	}

}

package io.timingwheel.spring.aop.internal.timeout;

import java.lang.reflect.Method;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.Stream;

import io.timingwheel.spring.aop.internal.ReactiveTypes;
import io.timingwheel.spring.aop.internal.Refusal;
import io.timingwheel.spring.task.DelayedTask;

import org.springframework.core.KotlinDetector;
import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ResolvableType;
import org.springframework.util.ClassUtils;

/**
 * The results whose work goes on, or begins, after the method has returned. Futures and
 * publishers have limits of their own. With another known type of this kind the
 * application does not start. The declared type decides.
 */
final class LaterResult {

	private static final Set<Class<?>> FUTURES = Set.of(Future.class, CompletionStage.class, CompletableFuture.class);

	private static final List<Class<?>> LATER = Stream
		.of("java.util.concurrent.Future", "java.util.concurrent.CompletionStage", "java.util.concurrent.Callable",
				"java.util.concurrent.Flow$Publisher", "java.util.function.Supplier", "java.util.stream.BaseStream",
				"java.util.Iterator", "org.reactivestreams.Publisher",
				"org.springframework.beans.factory.ObjectFactory",
				"org.springframework.web.context.request.async.DeferredResult",
				"org.springframework.web.context.request.async.WebAsyncTask",
				"org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody",
				"org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter", "kotlin.Lazy",
				"kotlin.sequences.Sequence", "kotlinx.coroutines.Job", "kotlinx.coroutines.flow.Flow",
				"io.smallrye.mutiny.Uni", "io.vertx.core.Future")
		.filter((name) -> ClassUtils.isPresent(name, LaterResult.class.getClassLoader()))
		.<Class<?>>map((name) -> ClassUtils.resolveClassName(name, LaterResult.class.getClassLoader()))
		.toList();

	private static final List<Class<?>> COMPLETE = List.of(Iterable.class, Record.class, Enum.class);

	private LaterResult() {
	}

	/**
	 * Checks the declared type of a result.
	 * @return gives what the caller gets in place of what the method returned. If the
	 * work goes on, the guard is handed over
	 */
	static BiFunction<Object, InterruptGuard, Object> limiter(Method method, Class<?> beanClass) {
		Refusal.when(KotlinDetector.isSuspendingFunction(method), method, "@Timeout is on a suspend function",
				"use withTimeout in its body");
		Class<?> type = ResolvableType.forMethodReturnType(method, beanClass).resolve(method.getReturnType());
		if (FUTURES.contains(type)) {
			return FutureTimeout::limit;
		}
		boolean isFuture = Future.class.isAssignableFrom(type) || CompletionStage.class.isAssignableFrom(type);
		Function<Object, ReactiveAdapter> adapters = isFuture ? null
				: ReactiveTypes.adapters("@Timeout", method, type, "");
		if (adapters != null) {
			return (returned, guard) -> ReactorTimeout.limit(returned, guard, adapters.apply(returned));
		}
		Refusal.when(isLater(type), method,
				"@Timeout is on a method that returns %s, and cannot limit its work, which comes after the return of the method"
					.formatted(type.getName()),
				"return the result itself, or a CompletableFuture or a publisher of it, or remove @Timeout (if it is on the class, annotate the other methods instead)");
		return (returned, guard) -> returned;
	}

	/**
	 * The handle of a task is complete. So is a collection, even if it supplies a stream
	 * of its elements, as a page of Spring Data does, and a record or an enum constant,
	 * which may supply what it holds.
	 */
	private static boolean isLater(Class<?> type) {
		return type != DelayedTask.class && COMPLETE.stream().noneMatch((complete) -> complete.isAssignableFrom(type))
				&& LATER.stream().anyMatch((later) -> later.isAssignableFrom(type));
	}

}

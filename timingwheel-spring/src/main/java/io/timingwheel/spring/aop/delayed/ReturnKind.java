package io.timingwheel.spring.aop.delayed;

import java.lang.reflect.Method;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;

import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import io.timingwheel.spring.task.DelayedTask;

/**
 * What a method with {@code @Delayed} may return.
 */
enum ReturnKind {

	NOTHING, RESULT;

	private static final Set<Class<?>> RESULTS = Set.of(Future.class, CompletionStage.class, CompletableFuture.class,
			DelayedTask.class);

	private static final String CONTINUATION = "kotlin.coroutines.Continuation";

	static ReturnKind of(Method method) {
		Class<?> type = method.getReturnType();
		if (type == void.class) {
			return NOTHING;
		}
		if (RESULTS.contains(type)) {
			return RESULT;
		}
		if (isSuspending(method)) {
			throw new InvalidAnnotatedMethodException(method,
					"@Delayed is on a suspend function, whose caller would wait for the delayed body",
					"make it an ordinary function that returns nothing or a CompletableFuture");
		}
		throw new InvalidAnnotatedMethodException(
				method, "@Delayed is on a method that returns %s, which cannot be given before the body has run"
					.formatted(type.getName()),
				"return void, Future, CompletionStage, CompletableFuture or DelayedTask");
	}

	private static boolean isSuspending(Method method) {
		Class<?>[] types = method.getParameterTypes();
		return types.length > 0 && types[types.length - 1].getName().equals(CONTINUATION);
	}

}

package io.timingwheel.spring.aop.timeout;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;

import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Calls the fallback of a suspend function. Within advice Spring represents the result of
 * a suspend function as a publisher. Only this class and {@link ReactorTimeout} need
 * Reactor.
 */
final class SuspendingFallback {

	private SuspendingFallback() {
	}

	/**
	 * Calls a fallback that does not suspend.
	 * @param arguments the arguments without the continuation
	 */
	static Object call(Method fallback, @Nullable Object target, @Nullable Object[] arguments)
			throws InvocationTargetException, IllegalAccessException {
		return Mono.justOrEmpty(fallback.invoke(target, arguments));
	}

}

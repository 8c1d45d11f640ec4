package io.timingwheel.spring.aop.timeout;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;

import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

import org.springframework.core.CoroutinesUtils;
import org.springframework.core.KotlinDetector;
import org.springframework.util.Assert;

/**
 * Calls the fallback of a suspend function. Within advice Spring represents the result of
 * a suspend function as a publisher. Only this class and {@link ReactorTimeout} need
 * Reactor.
 */
final class SuspendingFallback {

	private SuspendingFallback() {
	}

	@SuppressWarnings("NullAway") // Arguments may be null in CoroutinesUtils, too.
	static Object call(Method fallback, @Nullable Object target, @Nullable Object[] arguments)
			throws InvocationTargetException, IllegalAccessException {
		if (KotlinDetector.isSuspendingFunction(fallback)) {
			Assert.state(target != null, "No object of the fallback");
			return CoroutinesUtils.invokeSuspendingFunction(fallback, target, arguments);
		}
		return Mono.justOrEmpty(fallback.invoke(target, arguments));
	}

}

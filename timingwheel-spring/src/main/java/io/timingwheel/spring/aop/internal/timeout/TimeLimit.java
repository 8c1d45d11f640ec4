package io.timingwheel.spring.aop.internal.timeout;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import io.timingwheel.spring.annotation.Timeout;
import io.timingwheel.spring.aop.internal.ArgumentExpression;
import io.timingwheel.spring.aop.internal.MethodAttributes;
import io.timingwheel.spring.aop.internal.Refusal;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.core.KotlinDetector;
import org.springframework.core.ResolvableType;
import org.springframework.util.function.SingletonSupplier;

/**
 * The time limit of one method, by the attributes of its {@link Timeout}. Thread-safe.
 *
 * @param returnType the type that the caller expects, as the class of the bean resolves
 * it
 * @param expression gives the limit of a call, {@code null} if all calls have one
 * @param constant the limit of all calls in nanoseconds
 */
record TimeLimit(Method method, Class<?> returnType, @Nullable Fallback fallback,
		@Nullable ArgumentExpression expression, Supplier<Long> constant) {

	private static final String EXAMPLE = "set a positive duration such as 800ms";

	static TimeLimit read(Method method, Class<?> beanClass, Timeout annotation, @Nullable Fallback fallback,
			ConfigurableBeanFactory beanFactory) {
		ResolvableType resolved = ResolvableType.forMethodReturnType(method, beanClass);
		LaterResult.check(method, resolved);
		// To Spring a suspend function returns what its callers get, and to advice a
		// publisher.
		Class<?> returnType = KotlinDetector.isSuspendingFunction(method) ? method.getReturnType()
				: resolved.resolve(method.getReturnType());
		MethodAttributes attributes = new MethodAttributes(method, annotation, beanFactory);
		boolean hasExpression = attributes.has("timeoutExpression");
		Refusal.when(attributes.has("timeout") && hasExpression, method,
				"@Timeout has both a timeout and a timeoutExpression", "remove one of them");
		Refusal.when(!attributes.has("timeout") && !hasExpression, method, "@Timeout has no limit",
				"set its value, such as @Timeout(\"800ms\"), or its timeoutExpression");
		if (hasExpression) {
			return new TimeLimit(method, returnType, fallback, new ArgumentExpression("@Timeout(timeoutExpression)",
					annotation.timeoutExpression(), method, beanFactory), () -> 0L);
		}
		return new TimeLimit(method, returnType, fallback, null,
				SingletonSupplier.of(() -> nanos(method, annotation.timeout(), attributes)));
	}

	private static long nanos(Method method, String text, MethodAttributes attributes) {
		Duration limit = attributes.anyDuration("timeout");
		Refusal.when(limit.isNegative() || limit.isZero(), method,
				"the limit \"%s\" of @Timeout is not positive".formatted(text), EXAMPLE);
		return TimeUnit.NANOSECONDS.convert(limit);
	}

	TimeLimit replacedBy(Duration duration) {
		long nanos = TimeUnit.NANOSECONDS.convert(duration);
		return new TimeLimit(this.method, this.returnType, this.fallback, null, () -> nanos);
	}

	void resolve() {
		Long unused = this.constant.get();
	}

	/**
	 * Whether the caller accepts an object of a class in place of what the method
	 * returned.
	 */
	boolean mayReturn(Class<?> type) {
		return this.returnType.isAssignableFrom(type);
	}

	/**
	 * The limit of a call in nanoseconds. Zero or less, which only an expression gives,
	 * means that the call has no time left.
	 */
	long nanos(@Nullable Object[] arguments) {
		if (this.expression == null) {
			return this.constant.get();
		}
		Object value = this.expression.evaluate(arguments);
		try {
			return TimeUnit.NANOSECONDS.convert(MethodAttributes.toDuration(value));
		}
		catch (IllegalArgumentException ex) {
			throw this.expression.failure("gives no duration", ex);
		}
	}

}

package io.timingwheel.spring.aop.internal.timeout;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Supplier;

import io.timingwheel.spring.annotation.Timeout;
import io.timingwheel.spring.aop.internal.ArgumentExpression;
import io.timingwheel.spring.aop.internal.MethodAttributes;
import io.timingwheel.spring.aop.internal.Refusal;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.util.function.SingletonSupplier;

/**
 * The time limit of one method, by the attributes of its {@link Timeout}. Thread-safe.
 *
 * @param later gives what the caller gets in place of what the method returned
 * @param expression gives the limit of a call, {@code null} if all calls have one
 * @param constant the limit of all calls in nanoseconds
 */
record TimeLimit(Method method, BiFunction<Object, InterruptGuard, Object> later, @Nullable Fallback fallback,
		@Nullable ArgumentExpression expression, Supplier<Long> constant) {

	private static final String EXAMPLE = "set a positive duration such as 800ms";

	static TimeLimit read(Method method, Class<?> beanClass, Timeout annotation, @Nullable Fallback fallback,
			ConfigurableBeanFactory beanFactory) {
		BiFunction<Object, InterruptGuard, Object> later = LaterResult.limiter(method, beanClass);
		MethodAttributes attributes = new MethodAttributes(method, annotation, beanFactory);
		boolean hasExpression = attributes.has("timeoutExpression");
		Refusal.when(attributes.has("timeout") == hasExpression, method,
				"@Timeout has " + (hasExpression ? "two limits" : "no limit"),
				"set its value, such as @Timeout(\"800ms\"), or its timeoutExpression");
		if (hasExpression) {
			return new TimeLimit(method, later, fallback, new ArgumentExpression("@Timeout(timeoutExpression)",
					annotation.timeoutExpression(), method, beanFactory), () -> 0L);
		}
		return new TimeLimit(method, later, fallback, null,
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
		return new TimeLimit(this.method, this.later, this.fallback, null, () -> nanos);
	}

	void resolve() {
		Long unused = this.constant.get();
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

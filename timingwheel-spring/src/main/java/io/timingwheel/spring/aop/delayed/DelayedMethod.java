package io.timingwheel.spring.aop.delayed;

import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.function.Supplier;

import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.aop.ArgumentExpression;
import io.timingwheel.spring.aop.AttributeResolver;
import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import org.jspecify.annotations.Nullable;

/**
 * A checked {@code @Delayed} method of a bean.
 *
 * @param beanName the bean's public name
 * @param method the most specific method
 * @param annotation its annotation
 * @param argumentTypes the types of its arguments
 * @param delayExpression gives the delay of a call, {@code null} if all calls have one
 * @param key where the key comes from, {@code null} for none
 * @param shared whether the bean is one object for all calls
 * @param lazyValues reads the values once
 */
record DelayedMethod(String beanName, Method method, Delayed annotation, List<Type> argumentTypes,
		@Nullable ArgumentExpression delayExpression, @Nullable KeySource key, boolean shared,
		Supplier<Values> lazyValues) implements TaskMethod {

	@Override
	public boolean durable() {
		return this.annotation.durable();
	}

	@Override
	public Common common() {
		return values().common();
	}

	Values values() {
		return this.lazyValues.get();
	}

	/**
	 * Whether the method returns a task or future rather than nothing.
	 */
	boolean givesResult() {
		return this.method.getReturnType() != void.class;
	}

	/**
	 * The key of a call.
	 * @return the key, {@code null} if the tasks of this method have none
	 * @throws IllegalArgumentException if the expression gives no key
	 */
	@Nullable Object keyOf(@Nullable Object[] arguments) {
		return (this.key != null) ? this.key.key(arguments) : null;
	}

	/**
	 * The due time of a call.
	 * @throws IllegalArgumentException if the arguments give no time
	 */
	CallTime due(@Nullable Object[] arguments) {
		if (this.delayExpression == null) {
			return values().due();
		}
		Object value = this.delayExpression.evaluate(arguments);
		if (value instanceof Instant time) {
			return CallTime.at(time);
		}
		try {
			if (value instanceof Duration || value instanceof Number) {
				return CallTime.after(AttributeResolver.toDuration(value));
			}
			throw new IllegalArgumentException((value != null) ? "a " + value.getClass().getName() : "null");
		}
		catch (IllegalArgumentException ex) {
			throw new IllegalArgumentException(
					"The delayExpression \"%s\" of %s must give a Duration, a number of milliseconds or an Instant: %s"
						.formatted(this.delayExpression, InvalidAnnotatedMethodException.describe(this.method),
								ex.getMessage()),
					ex);
		}
	}

	/**
	 * The values of the annotation.
	 *
	 * @param common those that all task methods have
	 * @param due the due time of all calls, now if there is an expression
	 * @param maxWait how long replacements can put a task off, {@code null} for no limit
	 * @param expireAfter how late a task may start, {@code null} for no limit
	 */
	record Values(Common common, CallTime due, @Nullable Duration maxWait, @Nullable Duration expireAfter) {
	}

}

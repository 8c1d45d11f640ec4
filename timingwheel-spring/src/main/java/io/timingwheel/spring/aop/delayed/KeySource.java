package io.timingwheel.spring.aop.delayed;

import java.lang.reflect.Method;

import io.timingwheel.spring.aop.ArgumentExpression;
import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.config.ConfigurableBeanFactory;

/**
 * Where the keys of a method come from: an expression on the arguments of a call.
 */
final class KeySource {

	private final Method method;

	private final ArgumentExpression expression;

	KeySource(String attribute, String text, Method method, ConfigurableBeanFactory beanFactory) {
		this.method = method;
		this.expression = ArgumentExpression.parse(attribute, text, method, beanFactory);
	}

	/**
	 * The key of a call.
	 * @throws IllegalArgumentException if the expression gives {@code null}
	 */
	Object key(@Nullable Object[] arguments) {
		Object key = this.expression.evaluate(arguments);
		if (key == null) {
			throw new IllegalArgumentException("The key \"%s\" of %s must not be null".formatted(this.expression,
					InvalidAnnotatedMethodException.describe(this.method)));
		}
		return key;
	}

}

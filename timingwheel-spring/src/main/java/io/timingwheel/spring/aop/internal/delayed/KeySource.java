package io.timingwheel.spring.aop.internal.delayed;

import java.lang.reflect.Method;

import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import io.timingwheel.spring.aop.internal.ArgumentExpression;
import io.timingwheel.spring.task.TaskId;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.util.ClassUtils;

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
	 * The key of a call: a number, or a text.
	 * @throws IllegalArgumentException if the expression gives {@code null} or a key
	 * without a text of its own
	 */
	Object key(@Nullable Object[] arguments) {
		Object key = this.expression.evaluate(arguments);
		if (key == null) {
			throw new IllegalArgumentException("The key \"%s\" of %s must not be null".formatted(this.expression,
					InvalidAnnotatedMethodException.describe(this.method)));
		}
		if (ClassUtils.isPrimitiveWrapper(key.getClass())) {
			return key;
		}
		try {
			return TaskId.textOf(key);
		}
		catch (IllegalArgumentException ex) {
			throw new IllegalArgumentException("The key \"%s\" of %s cannot be used: %s".formatted(this.expression,
					InvalidAnnotatedMethodException.describe(this.method), ex.getMessage()), ex);
		}
	}

}

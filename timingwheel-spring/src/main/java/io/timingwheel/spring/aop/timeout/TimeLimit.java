package io.timingwheel.spring.aop.timeout;

import java.lang.reflect.Method;
import java.lang.reflect.TypeVariable;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import io.timingwheel.spring.annotation.MethodTimeoutException;
import io.timingwheel.spring.annotation.Timeout;
import io.timingwheel.spring.aop.ArgumentExpression;
import io.timingwheel.spring.aop.AttributeResolver;
import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import io.timingwheel.spring.aop.MethodAttributes;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.core.GenericTypeResolver;
import org.springframework.core.KotlinDetector;
import org.springframework.core.ResolvableType;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

/**
 * The time limit of one method, by the attributes of its {@link Timeout}. Thread-safe.
 */
final class TimeLimit {

	private static final String EXAMPLE = "set a positive duration such as 800ms";

	private final Method method;

	private final Class<?> returnType;

	private final boolean returnTypeUnknown;

	private final boolean resultMayComeLater;

	private final @Nullable ArgumentExpression expression;

	/** The constant limit in nanoseconds; zero if there is an expression. */
	private final Supplier<Long> constant;

	private final @Nullable Fallback fallback;

	TimeLimit(Method method, Class<?> beanClass, Timeout annotation, @Nullable Fallback fallback,
			ConfigurableBeanFactory beanFactory) {
		this.method = method;
		ResolvableType returnType = ResolvableType.forMethodReturnType(method, beanClass);
		LaterResult.check(method, returnType);
		// To Spring a suspend function returns what its callers get, and to advice a
		// publisher.
		this.returnType = KotlinDetector.isSuspendingFunction(method) ? method.getReturnType()
				: returnType.resolve(method.getReturnType());
		this.returnTypeUnknown = ClassUtils.isLambdaClass(beanClass)
				|| GenericTypeResolver.resolveType(method.getGenericReturnType(), beanClass) instanceof TypeVariable<?>;
		this.resultMayComeLater = LaterResult.isPossible(this.returnType);
		this.fallback = fallback;
		String text = annotation.timeout();
		boolean expression = StringUtils.hasText(annotation.timeoutExpression());
		if (StringUtils.hasText(text) == expression) {
			throw expression
					? new InvalidAnnotatedMethodException(method, "@Timeout has both a timeout and a timeoutExpression",
							"remove one of them")
					: new InvalidAnnotatedMethodException(method, "@Timeout has no limit",
							"set its value, such as @Timeout(\"800ms\"), or its timeoutExpression");
		}
		this.expression = expression ? ArgumentExpression.parse("@Timeout(timeoutExpression)",
				annotation.timeoutExpression(), method, beanFactory) : null;
		if (this.expression != null) {
			this.expression.requireResult("@Timeout(timeoutExpression)",
					"a Duration, a number of milliseconds or a text such as 800ms", Duration.class, Number.class,
					CharSequence.class);
			checkConstant(this.expression);
		}
		MethodAttributes attributes = new MethodAttributes(method, annotation, beanFactory);
		this.constant = expression ? () -> 0L : attributes.once(() -> nanos(method, text, attributes));
	}

	private void checkConstant(ArgumentExpression expression) {
		try {
			expression.constant().ifPresent(AttributeResolver::toDuration);
		}
		catch (IllegalArgumentException ex) {
			throw new InvalidAnnotatedMethodException(this.method,
					"the expression \"%s\" of @Timeout(timeoutExpression) is unusable (%s)".formatted(expression,
							ex.getMessage()),
					EXAMPLE, ex);
		}
	}

	/**
	 * Creates the limit of one bean, which replaces the limit of its class.
	 */
	private TimeLimit(TimeLimit replaced, long nanos) {
		this.method = replaced.method;
		this.returnType = replaced.returnType;
		this.returnTypeUnknown = replaced.returnTypeUnknown;
		this.resultMayComeLater = replaced.resultMayComeLater;
		this.fallback = replaced.fallback;
		this.expression = null;
		this.constant = () -> nanos;
	}

	private static long nanos(Method method, String text, MethodAttributes attributes) {
		Duration limit = attributes.duration("the limit", text, EXAMPLE);
		if (limit.isNegative() || limit.isZero()) {
			throw new InvalidAnnotatedMethodException(method,
					"the limit \"%s\" of @Timeout is not positive".formatted(text), EXAMPLE);
		}
		return TimeUnit.NANOSECONDS.convert(limit);
	}

	/**
	 * Returns this limit with another duration.
	 * @param duration the positive duration
	 */
	TimeLimit replacedBy(Duration duration) {
		return new TimeLimit(this, TimeUnit.NANOSECONDS.convert(duration));
	}

	Method method() {
		return this.method;
	}

	/**
	 * Returns the return type of the method, as the class of the bean resolves it.
	 */
	Class<?> returnType() {
		return this.returnType;
	}

	/**
	 * Whether what the method returns in time may have work left that needs a limit.
	 */
	boolean resultMayComeLater() {
		return this.resultMayComeLater;
	}

	/**
	 * Whether the return type is a type variable that the class of the bean leaves open,
	 * as the class of a lambda expression does.
	 */
	boolean hasUnknownReturnType() {
		return this.returnTypeUnknown;
	}

	@Nullable Fallback fallback() {
		return this.fallback;
	}

	/**
	 * Resolves a constant limit if this has not happened yet.
	 */
	void resolve() {
		Long unused = this.constant.get();
	}

	/**
	 * Returns the limit of a call.
	 * @param arguments the arguments of the call
	 * @return the limit in nanoseconds; zero or negative only if the expression gives
	 * such a value; the call then has no time left
	 * @throws IllegalArgumentException if the expression gives no duration
	 */
	long nanos(@Nullable Object[] arguments) {
		return (this.expression != null) ? evaluate(this.expression, arguments) : this.constant.get();
	}

	MethodTimeoutException newException(long nanos) {
		return new MethodTimeoutException(this.method, Duration.ofNanos(nanos));
	}

	private long evaluate(ArgumentExpression expression, @Nullable Object[] arguments) {
		Object value = expression.evaluate(arguments);
		try {
			return TimeUnit.NANOSECONDS.convert(AttributeResolver.toDuration(value));
		}
		catch (IllegalArgumentException ex) {
			throw new IllegalArgumentException("The timeoutExpression \"%s\" of %s gives no duration: %s"
				.formatted(expression, InvalidAnnotatedMethodException.describe(this.method), ex.getMessage()), ex);
		}
	}

}

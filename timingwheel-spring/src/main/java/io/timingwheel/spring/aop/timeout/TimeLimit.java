package io.timingwheel.spring.aop.timeout;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

import io.timingwheel.spring.annotation.MethodTimeoutException;
import io.timingwheel.spring.annotation.Timeout;
import io.timingwheel.spring.aop.ArgumentExpression;
import io.timingwheel.spring.aop.AttributeResolver;
import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.util.StringUtils;

/**
 * The time limit of one method, by the attributes of its {@link Timeout}. Thread-safe.
 */
final class TimeLimit {

	private static final String EXAMPLE = "set a positive duration such as 800ms";

	private final Method method;

	private final String text;

	private final AttributeResolver attributes;

	private final @Nullable ArgumentExpression expression;

	private final @Nullable Fallback fallback;

	/** The constant limit; zero if there is none, or until its beans exist. */
	private volatile long nanos;

	TimeLimit(Method method, Timeout annotation, @Nullable Fallback fallback, AttributeResolver attributes,
			ConfigurableBeanFactory beanFactory) {
		this.method = method;
		this.text = annotation.timeout();
		this.fallback = fallback;
		this.attributes = attributes;
		boolean expression = StringUtils.hasText(annotation.timeoutExpression());
		if (StringUtils.hasText(this.text) == expression) {
			throw expression
					? new InvalidAnnotatedMethodException(method, "@Timeout has both a timeout and a timeoutExpression",
							"remove one of them")
					: new InvalidAnnotatedMethodException(method, "@Timeout has no limit",
							"set its value, such as @Timeout(\"800ms\"), or its timeoutExpression");
		}
		this.expression = expression ? ArgumentExpression.parse("@Timeout(timeoutExpression)",
				annotation.timeoutExpression(), method, beanFactory) : null;
	}

	/**
	 * Creates the limit of one bean, which replaces the limit of its class.
	 */
	private TimeLimit(TimeLimit replaced, long nanos) {
		this.method = replaced.method;
		this.text = replaced.text;
		this.fallback = replaced.fallback;
		this.attributes = replaced.attributes;
		this.expression = null;
		this.nanos = nanos;
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

	@Nullable Fallback fallback() {
		return this.fallback;
	}

	/**
	 * Resolves a constant limit that needs no beans.
	 */
	void resolveWithoutBeans() {
		if (this.expression == null) {
			Duration limit = check(() -> this.attributes.resolveDurationWithoutBeans(this.text));
			if (limit != null) {
				this.nanos = positive(limit);
			}
		}
	}

	/**
	 * Resolves a constant limit if this has not happened yet.
	 */
	void resolve() {
		if (this.expression == null && this.nanos == 0) {
			this.nanos = positive(check(() -> this.attributes.resolveDuration(this.text)));
		}
	}

	/**
	 * Returns the limit of a call.
	 * @param arguments the arguments of the call
	 * @return the limit in nanoseconds; zero or negative only if the expression gives
	 * such a value; the call then has no time left
	 * @throws IllegalArgumentException if the expression gives no duration
	 */
	long nanos(@Nullable Object[] arguments) {
		if (this.expression != null) {
			return evaluate(this.expression, arguments);
		}
		if (this.nanos == 0) {
			resolve();
		}
		return this.nanos;
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

	private <T extends @Nullable Object> T check(Resolution<T> resolution) {
		try {
			return resolution.get();
		}
		catch (IllegalArgumentException ex) {
			throw new InvalidAnnotatedMethodException(this.method,
					"the limit of @Timeout is unusable (" + ex.getMessage() + ")", EXAMPLE, ex);
		}
	}

	private long positive(Duration limit) {
		if (limit.isNegative() || limit.isZero()) {
			throw new InvalidAnnotatedMethodException(this.method,
					"the limit \"%s\" of @Timeout is not positive".formatted(this.text), EXAMPLE);
		}
		return TimeUnit.NANOSECONDS.convert(limit);
	}

	private interface Resolution<T extends @Nullable Object> {

		T get();

	}

}

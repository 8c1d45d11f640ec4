package io.timingwheel.spring.aop;

import java.lang.reflect.Method;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.util.function.Function;
import java.util.function.UnaryOperator;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.config.BeanExpressionContext;
import org.springframework.beans.factory.config.BeanExpressionResolver;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.core.env.Environment;
import org.springframework.expression.ParseException;
import org.springframework.expression.ParserContext;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.format.datetime.standard.DurationFormatterUtils;

/**
 * Resolves the attributes of annotations: texts, and durations such as {@code 30s},
 * {@code PT30M} and {@code 500} (milliseconds). Both may hold
 * <code>${placeholders}</code> and <code>#{bean expressions}</code>. Placeholders are
 * resolved even before the context has a resolver for them. Bean expressions wait until
 * the beans exist. The methods that give a {@link Duration} throw an
 * {@link IllegalArgumentException} that quotes the text; the caller adds the method.
 * Thread-safe.
 *
 * @since 0.1
 */
public final class AttributeResolver {

	private static final String PLACEHOLDER_PREFIX = "${";

	private static final String EXPRESSION_PREFIX = "#{";

	private static final BigDecimal NANOS_PER_MILLI = BigDecimal.valueOf(1_000_000);

	private static final BigDecimal NANOS_PER_SECOND = BigDecimal.valueOf(1_000_000_000);

	private final ConfigurableBeanFactory beanFactory;

	/**
	 * Creates a resolver.
	 * @param beanFactory resolves placeholders and bean expressions
	 */
	public AttributeResolver(ConfigurableBeanFactory beanFactory) {
		this.beanFactory = beanFactory;
	}

	/**
	 * Reads a duration.
	 * @param text the text of the attribute
	 * @param conversion takes the duration, which may be zero or negative
	 * @param failure takes the reason if the text gives no duration
	 * @return the attribute
	 * @param <T> the type of the converted duration
	 * @throws InvalidAnnotatedMethodException if the text needs no beans and gives no
	 * duration, or if the syntax of its bean expression is wrong
	 */
	public <T> FixedAttribute<T> duration(String text, Function<? super Duration, T> conversion,
			Function<IllegalArgumentException, InvalidAnnotatedMethodException> failure) {
		return new FixedAttribute<>(text, this, (source) -> conversion.apply(resolveDuration(source)), failure);
	}

	/**
	 * Reads a text.
	 * @param method the annotated method
	 * @param attribute the attribute, for messages, such as {@code the name of @Delayed}
	 * @param text the text of the attribute
	 * @param conversion takes the text without placeholders and expressions, may be empty
	 * @return the attribute
	 * @throws InvalidAnnotatedMethodException if a property is missing, or if the syntax
	 * of a bean expression is wrong
	 */
	public FixedAttribute<String> text(Method method, String attribute, String text, UnaryOperator<String> conversion) {
		return value(text, conversion,
				(ex) -> new InvalidAnnotatedMethodException(method,
						"%s is unusable (%s)".formatted(attribute, ex.getMessage()),
						"set the property, or correct the expression", ex));
	}

	/**
	 * Reads a value of any type from a text.
	 * @param text the text of the attribute
	 * @param conversion takes the text without placeholders and expressions, may be empty
	 * @param failure takes the reason if the text gives no value
	 * @return the attribute
	 * @param <T> the type of the value
	 * @throws InvalidAnnotatedMethodException if the text needs no beans and gives no
	 * value, or if the syntax of its bean expression is wrong
	 */
	public <T> FixedAttribute<T> value(String text, Function<String, T> conversion,
			Function<IllegalArgumentException, InvalidAnnotatedMethodException> failure) {
		return new FixedAttribute<>(text, this, (source) -> conversion.apply(resolveText(source)), failure);
	}

	/**
	 * Resolves a duration. May instantiate beans.
	 * @param text the text of the attribute
	 * @return the duration, may be zero or negative
	 * @throws IllegalArgumentException if the text gives no duration
	 */
	Duration resolveDuration(String text) {
		Object value = resolve(text);
		try {
			return toDuration(value);
		}
		catch (IllegalArgumentException ex) {
			if (text.equals(value)) {
				throw ex;
			}
			throw new IllegalArgumentException("\"" + text + "\" gives no duration: " + ex.getMessage(), ex);
		}
	}

	private String resolveText(String text) {
		Object value = resolve(text);
		if (value == null) {
			throw new IllegalArgumentException("\"" + text + "\" gives null");
		}
		return value.toString();
	}

	/**
	 * Returns whether a text holds a bean expression, after a check of its syntax.
	 * @throws IllegalArgumentException if a placeholder cannot be resolved, or if the
	 * syntax is wrong
	 */
	boolean needsBeans(String text) {
		String resolved = resolvePlaceholders(text);
		if (!resolved.contains(EXPRESSION_PREFIX)) {
			return false;
		}
		try {
			new SpelExpressionParser().parseExpression(resolved, ParserContext.TEMPLATE_EXPRESSION);
			return true;
		}
		catch (ParseException | IllegalStateException ex) {
			throw new IllegalArgumentException("\"" + text + "\" cannot be parsed: " + ex.getMessage(), ex);
		}
	}

	private @Nullable Object resolve(String text) {
		String resolved = resolvePlaceholders(text);
		BeanExpressionResolver expressions = this.beanFactory.getBeanExpressionResolver();
		return (expressions != null && resolved.contains(EXPRESSION_PREFIX)) ? evaluate(expressions, resolved)
				: resolved;
	}

	private String resolvePlaceholders(String text) {
		if (!text.contains(PLACEHOLDER_PREFIX)) {
			return text;
		}
		try {
			String resolved = this.beanFactory.hasEmbeddedValueResolver() ? this.beanFactory.resolveEmbeddedValue(text)
					: this.beanFactory.getBean(Environment.class).resolveRequiredPlaceholders(text);
			return (resolved != null) ? resolved : "";
		}
		catch (IllegalArgumentException ex) {
			throw new IllegalArgumentException("\"" + text + "\" cannot be resolved: " + ex.getMessage(), ex);
		}
	}

	private @Nullable Object evaluate(BeanExpressionResolver expressions, String text) {
		try {
			return expressions.evaluate(text, new BeanExpressionContext(this.beanFactory, null));
		}
		catch (RuntimeException ex) {
			Throwable cause = (ex.getCause() != null) ? ex.getCause() : ex;
			throw new IllegalArgumentException("\"" + text + "\" cannot be evaluated: " + cause.getMessage(), ex);
		}
	}

	/**
	 * Converts the value of an expression.
	 * @param value a {@code Duration}, a number of milliseconds or a text such as
	 * {@code 30s}
	 * @return the duration, may be zero or negative
	 * @throws IllegalArgumentException if the value is {@code null} or of another type
	 */
	public static Duration toDuration(@Nullable Object value) {
		if (value instanceof Duration duration) {
			return duration;
		}
		if (value instanceof Number number) {
			return fromMillis(number);
		}
		if (value instanceof CharSequence text) {
			return parse(text.toString().strip());
		}
		throw new IllegalArgumentException(
				(value != null) ? "a %s is neither a Duration nor a number of milliseconds nor a text such as 30s"
					.formatted(value.getClass().getName()) : "null is no duration");
	}

	private static Duration fromMillis(Number millis) {
		if (millis instanceof Long || millis instanceof Integer || millis instanceof Short || millis instanceof Byte) {
			return Duration.ofMillis(millis.longValue());
		}
		try {
			BigDecimal nanos = new BigDecimal(millis.toString()).multiply(NANOS_PER_MILLI)
				.setScale(0, RoundingMode.HALF_UP);
			BigDecimal[] parts = nanos.divideAndRemainder(NANOS_PER_SECOND);
			return Duration.ofSeconds(parts[0].longValueExact(), parts[1].longValueExact());
		}
		catch (ArithmeticException | NumberFormatException ex) {
			throw new IllegalArgumentException(millis + " is not a number of milliseconds", ex);
		}
	}

	private static Duration parse(String text) {
		try {
			return DurationFormatterUtils.detectAndParse(text);
		}
		catch (IllegalArgumentException | ArithmeticException ex) {
			throw new IllegalArgumentException(
					"\"%s\" is not a duration such as 500ms, 30s, 10m, 2h or PT30M".formatted(text), ex);
		}
	}

}

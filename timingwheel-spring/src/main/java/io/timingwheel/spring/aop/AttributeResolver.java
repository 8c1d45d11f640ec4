package io.timingwheel.spring.aop;

import java.lang.reflect.Method;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;

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
 * Turns the durations in annotations into {@link Duration}s: texts such as {@code 30s},
 * {@code PT30M} and {@code 500} (milliseconds), with <code>${placeholders}</code> and
 * <code>#{bean expressions}</code>. Errors are {@link IllegalArgumentException}s that
 * quote the text; the caller adds the method. Thread-safe.
 */
public class AttributeResolver {

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
	 * Resolves the placeholders of an attribute.
	 * @param method the method that bears the annotation
	 * @param attribute where the text stands, for messages
	 * @param text the text
	 * @return the text without placeholders
	 * @throws InvalidAnnotatedMethodException if a property is missing
	 */
	public String resolve(Method method, String attribute, String text) {
		try {
			return replacePlaceholders(text);
		}
		catch (IllegalArgumentException ex) {
			throw new InvalidAnnotatedMethodException(method,
					"%s is \"%s\": %s".formatted(attribute, text, ex.getMessage()),
					"set the property, or give the placeholder a default", ex);
		}
	}

	/**
	 * Whether {@link #resolveDuration} has to look at beans, and may therefore
	 * instantiate some.
	 * @param text the text
	 * @return whether it holds a bean expression
	 * @throws IllegalArgumentException if a placeholder cannot be resolved
	 */
	public boolean needsBeans(String text) {
		return resolvePlaceholders(text).contains(EXPRESSION_PREFIX);
	}

	/**
	 * Resolves a text if no bean is needed for that; otherwise checks the syntax of the
	 * bean expression.
	 * @param text the text
	 * @return the duration, may be zero or negative; {@code null} if it needs beans
	 * @throws IllegalArgumentException if it cannot give a duration
	 */
	public @Nullable Duration resolveDurationWithoutBeans(String text) {
		String resolved = resolvePlaceholders(text);
		if (!resolved.contains(EXPRESSION_PREFIX)) {
			return resolveDuration(text);
		}
		try {
			new SpelExpressionParser().parseExpression(resolved, ParserContext.TEMPLATE_EXPRESSION);
			return null;
		}
		catch (ParseException | IllegalStateException ex) {
			throw new IllegalArgumentException("\"" + text + "\" cannot be parsed: " + ex.getMessage(), ex);
		}
	}

	/**
	 * Resolves a text.
	 * @param text the text
	 * @return the duration; may be zero or negative
	 * @throws IllegalArgumentException if it gives no duration
	 */
	public Duration resolveDuration(String text) {
		String resolved = resolvePlaceholders(text);
		Object value = resolved;
		BeanExpressionResolver expressions = this.beanFactory.getBeanExpressionResolver();
		if (expressions != null && resolved.contains(EXPRESSION_PREFIX)) {
			value = evaluate(expressions, resolved);
		}
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

	private String resolvePlaceholders(String text) {
		try {
			return replacePlaceholders(text);
		}
		catch (IllegalArgumentException ex) {
			throw new IllegalArgumentException("\"" + text + "\" cannot be resolved: " + ex.getMessage(), ex);
		}
	}

	private String replacePlaceholders(String text) {
		if (!text.contains(PLACEHOLDER_PREFIX)) {
			return text;
		}
		String resolved = this.beanFactory.hasEmbeddedValueResolver() ? this.beanFactory.resolveEmbeddedValue(text)
				: this.beanFactory.getBean(Environment.class).resolveRequiredPlaceholders(text);
		return (resolved != null) ? resolved : "";
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
	 * Converts what an expression gave.
	 * @param value a {@code Duration}, a number of milliseconds or a text such as
	 * {@code 30s}
	 * @return the duration; may be zero or negative
	 * @throws IllegalArgumentException if it is none of these, or {@code null}
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

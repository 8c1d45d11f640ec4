package io.timingwheel.spring.aop.internal;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.beans.factory.config.EmbeddedValueResolver;
import org.springframework.format.datetime.standard.DurationFormatterUtils;
import org.springframework.util.StringValueResolver;

/**
 * Resolves the attributes of annotations: texts, and durations such as {@code 30s},
 * {@code PT30M} and {@code 500} (milliseconds). Both may hold
 * <code>${placeholders}</code> and <code>#{bean expressions}</code>, which are resolved
 * once the beans exist. Thread-safe.
 */
public final class AttributeResolver {

	private final StringValueResolver resolver;

	AttributeResolver(ConfigurableBeanFactory beanFactory) {
		this.resolver = new EmbeddedValueResolver(beanFactory);
	}

	/**
	 * Resolves a duration, which may be zero or negative. May instantiate beans.
	 */
	Duration duration(String text) {
		String value = text(text);
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

	/**
	 * Resolves a text. May instantiate beans.
	 */
	String text(String text) {
		String resolved;
		try {
			resolved = this.resolver.resolveStringValue(text);
		}
		catch (RuntimeException ex) {
			Throwable cause = (ex.getCause() != null) ? ex.getCause() : ex;
			throw new IllegalArgumentException("\"" + text + "\" cannot be resolved: " + cause.getMessage(), ex);
		}
		// The resolver of the context need not be strict.
		if (resolved == null || resolved.contains("${")) {
			throw new IllegalArgumentException("\"" + text + "\" gives "
					+ ((resolved != null) ? resolved + ", since a property is missing" : null));
		}
		return resolved;
	}

	/**
	 * Converts the value of an expression to a duration, which may be zero or negative.
	 */
	public static Duration toDuration(@Nullable Object value) {
		if (value instanceof Duration duration) {
			return duration;
		}
		if (value instanceof Number millis) {
			return fromMillis(millis);
		}
		if (value instanceof CharSequence text) {
			return parse(text.toString().strip());
		}
		throw new IllegalArgumentException(
				(value != null) ? "a %s is neither a Duration nor a number of milliseconds nor a text such as 30s"
					.formatted(value.getClass().getName()) : "null is no duration");
	}

	private static Duration fromMillis(Number millis) {
		if (millis instanceof Long || millis instanceof Integer) {
			return Duration.ofMillis(millis.longValue());
		}
		try {
			BigDecimal nanos = new BigDecimal(millis.toString()).movePointRight(6).setScale(0, RoundingMode.HALF_UP);
			return Duration.ofNanos(nanos.longValueExact());
		}
		catch (NumberFormatException | ArithmeticException ex) {
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

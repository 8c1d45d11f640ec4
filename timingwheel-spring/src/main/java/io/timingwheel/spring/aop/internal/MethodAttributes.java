package io.timingwheel.spring.aop.internal;

import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Objects;
import java.util.function.Supplier;

import io.timingwheel.spring.annotation.Backoff;
import io.timingwheel.spring.annotation.TaskPolicy;
import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import io.timingwheel.spring.task.internal.PolicySettings;
import io.timingwheel.spring.task.internal.PolicySettings.BackoffSettings;
import io.timingwheel.spring.task.internal.PolicySettings.StartRate;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.beans.factory.config.EmbeddedValueResolver;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.format.datetime.standard.DurationFormatterUtils;
import org.springframework.util.Assert;
import org.springframework.util.StringUtils;
import org.springframework.util.StringValueResolver;

/**
 * The values of an annotation on a method. Reading one may instantiate the beans that it
 * names, and refuses a value that is of no use.
 */
public final class MethodAttributes {

	private static final String DURATION = "set a duration such as 500ms, 30s, 10m or PT1H";

	private static final double NANOS_PER_MILLI = 1_000_000;

	private final Method method;

	private final Annotation annotation;

	private final ConfigurableBeanFactory beanFactory;

	private final StringValueResolver resolver;

	public MethodAttributes(Method method, Annotation annotation, ConfigurableBeanFactory beanFactory) {
		this.method = method;
		this.annotation = annotation;
		this.beanFactory = beanFactory;
		this.resolver = new EmbeddedValueResolver(beanFactory);
	}

	public boolean has(String attribute) {
		return StringUtils.hasText(raw(attribute));
	}

	/** The text of an attribute, empty if there is no such attribute. */
	public String raw(String attribute) {
		return Objects.toString(AnnotationUtils.getValue(this.annotation, attribute), "");
	}

	@Nullable ArgumentExpression expression(String attribute) {
		return has(attribute) ? new ArgumentExpression("%s(%s)".formatted(type(), attribute), raw(attribute),
				this.method, this.beanFactory) : null;
	}

	public String text(String attribute) {
		return value(attribute, "correct the expression", () -> resolve(raw(attribute))).strip();
	}

	public String name(String defaultName) {
		String name = text("name");
		return checkName("name", name.isEmpty() ? defaultName : name);
	}

	public String alias(String text) {
		return checkName("alias", value("alias", "set the property, or correct the expression", () -> resolve(text)));
	}

	private String checkName(String attribute, String name) {
		Refusal.when(name.indexOf('/') >= 0, this.method,
				"the %s \"%s\" of %s contains a slash, which separates the name of a task from its key"
					.formatted(attribute, name, type()),
				"set a name without slashes, such as \"%s\"".formatted(name.replace('/', '.')));
		return name;
	}

	/** Reads a duration that may be zero or negative. */
	public Duration anyDuration(String attribute) {
		return value(attribute, DURATION, () -> toDuration(resolve(raw(attribute))));
	}

	public @Nullable Duration duration(String attribute) {
		return has(attribute) ? value(attribute, DURATION + ", or remove it", () -> {
			Duration duration = toDuration(resolve(raw(attribute)));
			Assert.isTrue(!duration.isNegative(), () -> duration + " is negative");
			return duration;
		}) : null;
	}

	public PolicySettings policy(TaskPolicy policy) {
		return value("policy", "correct this value, or remove it", () -> {
			Backoff backoff = policy.backoff();
			BackoffSettings pauses = new BackoffSettings(backoffDuration(backoff.initial()),
					(backoff.multiplier() != 0) ? backoff.multiplier() : null, backoffDuration(backoff.max()),
					(backoff.jitter() >= 0) ? backoff.jitter() : null)
				.checkOrder();
			String rate = resolve(policy.rate());
			return new PolicySettings(count("maxAttempts", policy.maxAttempts()), pauses,
					count("maxConcurrent", policy.maxConcurrent()),
					count("maxConcurrentPerKey", policy.maxConcurrentPerKey()),
					rate.isBlank() ? null : StartRate.parse(rate), null);
		});
	}

	private @Nullable Duration backoffDuration(String text) {
		return StringUtils.hasText(text) ? toDuration(resolve(text)) : null;
	}

	private static @Nullable Integer count(String name, int value) {
		Assert.isTrue(value >= 0, () -> name + " must not be negative");
		return (value != 0) ? value : null;
	}

	/** Computes a value, and names the attribute if that fails. */
	public <T> T value(String attribute, String remedy, Supplier<T> value) {
		try {
			return value.get();
		}
		catch (RuntimeException ex) {
			throw new InvalidAnnotatedMethodException(this.method,
					"the %s of %s is unusable (%s)".formatted(attribute, type(),
							NestedExceptionUtils.getMostSpecificCause(ex).getMessage()),
					raw(attribute).contains("${") ? remedy + ", or define its property" : remedy, ex);
		}
	}

	/** The annotation, as messages name it. */
	public String type() {
		return "@" + this.annotation.annotationType().getSimpleName();
	}

	private String resolve(String text) {
		String resolved = this.resolver.resolveStringValue(text);
		// The resolver of the context need not be strict.
		Assert.isTrue(resolved != null && !resolved.contains("${"), () -> "\"" + text + "\" gives " + resolved);
		return resolved;
	}

	/**
	 * Converts a {@link Duration}, a number of milliseconds, or a text such as
	 * {@code 30s}, {@code PT30M} and {@code 500}. The result may be negative.
	 */
	public static Duration toDuration(@Nullable Object value) {
		if (value instanceof Duration duration) {
			return duration;
		}
		if (value instanceof Number millis && Double.isFinite(millis.doubleValue())) {
			return (millis.doubleValue() == millis.longValue()) ? Duration.ofMillis(millis.longValue())
					: Duration.ofNanos(Math.round(millis.doubleValue() * NANOS_PER_MILLI));
		}
		String text = String.valueOf(value).strip();
		try {
			if (value instanceof CharSequence) {
				return DurationFormatterUtils.detectAndParse(text);
			}
		}
		catch (IllegalArgumentException | ArithmeticException ex) {
			// The exception below says more.
		}
		throw new IllegalArgumentException((value instanceof CharSequence || value instanceof Number || value == null)
				? "\"%s\" is not a duration such as 500ms, 30s, 10m, 2h or PT30M".formatted(text)
				: "a %s is no duration".formatted(value.getClass().getName()));
	}

}

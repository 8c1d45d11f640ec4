package io.timingwheel.spring.aop.internal;

import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.function.Function;
import java.util.function.Supplier;

import io.timingwheel.spring.annotation.Backoff;
import io.timingwheel.spring.annotation.TaskPolicy;
import io.timingwheel.spring.task.internal.BackoffSettings;
import io.timingwheel.spring.task.internal.PolicySettings;
import io.timingwheel.spring.task.internal.StartRate;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.util.Assert;
import org.springframework.util.StringUtils;
import org.springframework.util.function.SingletonSupplier;

/**
 * Reads the values of an annotation on a method. Reading may instantiate beans, and
 * throws an {@link InvalidAnnotatedMethodException} for a value that is of no use.
 */
public final class MethodAttributes {

	private static final String CORRECT = "correct this value, or remove it";

	private final Method method;

	private final Annotation annotation;

	/** The annotation, for messages. */
	private final String type;

	private final AttributeResolver resolver;

	public MethodAttributes(Method method, Annotation annotation, ConfigurableBeanFactory beanFactory) {
		this.method = method;
		this.annotation = annotation;
		this.type = "@" + annotation.annotationType().getSimpleName();
		this.resolver = new AttributeResolver(beanFactory);
	}

	/**
	 * Reads values once, when they are needed first. If the annotation holds no
	 * placeholder and no bean expression, this is now.
	 */
	public <T> Supplier<T> once(Supplier<T> values) {
		return isLiteral(this.annotation) ? SingletonSupplier.of(values.get()) : SingletonSupplier.of(values);
	}

	/**
	 * Returns whether the values of an annotation are known without properties and beans.
	 */
	public static boolean isLiteral(Annotation annotation) {
		String attributes = annotation.toString();
		return !attributes.contains("${") && !attributes.contains("#{");
	}

	public boolean has(String attribute) {
		return StringUtils.hasText(raw(attribute));
	}

	private String raw(String attribute) {
		return String.valueOf(AnnotationUtils.getValue(this.annotation, attribute));
	}

	public String text(String attribute) {
		return text("the " + attribute, raw(attribute));
	}

	private String text(String what, String text) {
		return value("%s of %s".formatted(what, this.type), "set the property, or correct the expression",
				() -> this.resolver.text(text));
	}

	public String name(String defaultName) {
		return name("the name", raw("name"), defaultName);
	}

	public String name(String what, String text, String defaultName) {
		String resolved = text(what, text);
		String name = StringUtils.hasText(resolved) ? resolved : defaultName;
		if (name.indexOf('/') >= 0) {
			throw new InvalidAnnotatedMethodException(this.method,
					"%s \"%s\" of %s contains a slash, which separates the name of a task from its key".formatted(what,
							name, this.type),
					"set a name without slashes, such as \"%s\"".formatted(name.replace('/', '.')));
		}
		return name;
	}

	/**
	 * Reads a duration that may be zero or negative.
	 */
	public Duration duration(String what, String text, String remedy) {
		return value("%s of %s".formatted(what, this.type), remedy, () -> this.resolver.duration(text));
	}

	public @Nullable Duration duration(String attribute) {
		if (!has(attribute)) {
			return null;
		}
		String text = raw(attribute);
		return value("the %s of %s".formatted(attribute, this.type), "set a duration such as 5m, or remove it", () -> {
			Duration duration = this.resolver.duration(text);
			Assert.isTrue(!duration.isNegative(), () -> "\"" + text + "\" is negative");
			return duration;
		});
	}

	public PolicySettings policy(TaskPolicy policy) {
		Backoff backoff = policy.backoff();
		Duration initial = ofPolicy("backoff.initial", backoff.initial(), this.resolver::duration);
		Duration max = ofPolicy("backoff.max", backoff.max(), this.resolver::duration);
		StartRate rate = ofPolicy("rate", policy.rate(), (text) -> StartRate.parse(this.resolver.text(text)));
		Double multiplier = (backoff.multiplier() != 0) ? backoff.multiplier() : null;
		Double jitter = (backoff.jitter() >= 0) ? backoff.jitter() : null;
		return value("the policy of " + this.type, CORRECT,
				() -> new PolicySettings(count("maxAttempts", policy.maxAttempts()),
						new BackoffSettings(initial, multiplier, max, jitter).checkOrder(),
						count("maxConcurrent", policy.maxConcurrent()),
						count("maxConcurrentPerKey", policy.maxConcurrentPerKey()), rate, null));
	}

	private <T> @Nullable T ofPolicy(String attribute, String text, Function<String, T> value) {
		return StringUtils.hasText(text)
				? value("the %s in the policy of %s".formatted(attribute, this.type), CORRECT, () -> value.apply(text))
				: null;
	}

	private static @Nullable Integer count(String name, int value) {
		Assert.isTrue(value >= 0, () -> name + " must not be negative");
		return (value != 0) ? value : null;
	}

	private <T> T value(String what, String remedy, Supplier<T> value) {
		try {
			return value.get();
		}
		catch (IllegalArgumentException ex) {
			throw new InvalidAnnotatedMethodException(this.method,
					"%s is unusable (%s)".formatted(what, ex.getMessage()), remedy, ex);
		}
	}

}

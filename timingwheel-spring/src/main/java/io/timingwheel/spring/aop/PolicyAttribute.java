package io.timingwheel.spring.aop;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.function.Function;

import io.timingwheel.spring.annotation.Backoff;
import io.timingwheel.spring.annotation.TaskPolicy;
import io.timingwheel.spring.task.internal.BackoffSettings;
import io.timingwheel.spring.task.internal.PolicySettings;
import io.timingwheel.spring.task.internal.StartRate;
import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;
import org.springframework.util.StringUtils;

/**
 * The {@link TaskPolicy} of an annotated method. Thread-safe.
 *
 * @since 0.1
 */
public final class PolicyAttribute {

	private final Method method;

	private final String annotation;

	private final TaskPolicy policy;

	private final @Nullable FixedAttribute<Duration> initial;

	private final @Nullable FixedAttribute<Duration> max;

	private final @Nullable FixedAttribute<StartRate> rate;

	private PolicyAttribute(Method method, String annotation, TaskPolicy policy, AttributeResolver attributes) {
		this.method = method;
		this.annotation = annotation;
		this.policy = policy;
		this.initial = duration("backoff.initial", policy.backoff().initial(), attributes);
		this.max = duration("backoff.max", policy.backoff().max(), attributes);
		this.rate = attribute("rate", policy.rate(),
				(text, failure) -> attributes.value(text, StartRate::parse, failure));
	}

	/**
	 * Reads and checks a policy.
	 * @param method the annotated method
	 * @param annotation the name of the annotation, for messages, such as
	 * {@code @Delayed}
	 * @param policy the policy of the annotation
	 * @param attributes resolves the texts of the policy
	 * @return the policy
	 * @throws InvalidAnnotatedMethodException if a part has no usable value, as far as
	 * this can be known without beans
	 */
	public static PolicyAttribute read(Method method, String annotation, TaskPolicy policy,
			AttributeResolver attributes) {
		PolicyAttribute attribute = new PolicyAttribute(method, annotation, policy, attributes);
		if (isResolved(attribute.initial) && isResolved(attribute.max) && isResolved(attribute.rate)) {
			attribute.get();
		}
		return attribute;
	}

	/**
	 * Returns the policy, without what the configuration overrides. May instantiate beans
	 * if a text holds a bean expression.
	 * @return the policy
	 * @throws InvalidAnnotatedMethodException if a part has no usable value
	 */
	public PolicySettings get() {
		Backoff backoff = this.policy.backoff();
		try {
			return new PolicySettings(count("maxAttempts", this.policy.maxAttempts()),
					new BackoffSettings(value(this.initial), (backoff.multiplier() != 0) ? backoff.multiplier() : null,
							value(this.max), (backoff.jitter() < 0) ? null : backoff.jitter())
						.checkOrder(),
					count("maxConcurrent", this.policy.maxConcurrent()),
					count("maxConcurrentPerKey", this.policy.maxConcurrentPerKey()), value(this.rate), null);
		}
		catch (IllegalArgumentException ex) {
			throw new InvalidAnnotatedMethodException(this.method,
					"the policy of %s is unusable (%s)".formatted(this.annotation, ex.getMessage()),
					"correct this value, or remove it", ex);
		}
	}

	private static @Nullable Integer count(String name, int value) {
		Assert.isTrue(value >= 0, () -> name + " must not be negative");
		return (value != 0) ? value : null;
	}

	private static <T> @Nullable T value(@Nullable FixedAttribute<T> attribute) {
		return (attribute != null) ? attribute.get() : null;
	}

	private static boolean isResolved(@Nullable FixedAttribute<?> attribute) {
		return attribute == null || attribute.isResolved();
	}

	private @Nullable FixedAttribute<Duration> duration(String name, String text, AttributeResolver attributes) {
		return attribute(name, text, (source, failure) -> attributes.duration(source, Function.identity(), failure));
	}

	private <T> @Nullable FixedAttribute<T> attribute(String name, String text, Reader<T> reader) {
		if (!StringUtils.hasText(text)) {
			return null;
		}
		return reader.read(text,
				(ex) -> new InvalidAnnotatedMethodException(this.method,
						"the %s in the policy of %s is unusable (%s)".formatted(name, this.annotation, ex.getMessage()),
						"correct this value, or remove it", ex));
	}

	/**
	 * Reads one attribute.
	 */
	private interface Reader<T> {

		FixedAttribute<T> read(String text,
				Function<IllegalArgumentException, InvalidAnnotatedMethodException> failure);

	}

}

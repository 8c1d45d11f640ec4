package io.timingwheel.spring.aop.delayed;

import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.time.Duration;

import io.timingwheel.spring.annotation.TaskPolicy;
import io.timingwheel.spring.aop.AttributeResolver;
import io.timingwheel.spring.aop.FixedAttribute;
import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import io.timingwheel.spring.aop.PolicyAttribute;
import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;
import org.springframework.util.StringUtils;

/**
 * Reads and checks the attributes that {@code @Delayed} and {@code @Recurring} have in
 * common. A check that fails throws an {@link InvalidAnnotatedMethodException}.
 */
final class TaskAttributes {

	private final String annotation;

	private final AttributeResolver resolver;

	private final DelayedMethodRules rules;

	/**
	 * Creates a reader.
	 * @param annotation the annotation, for messages
	 * @param resolver resolves the texts
	 * @param rules checks the names and executors
	 */
	TaskAttributes(Class<? extends Annotation> annotation, AttributeResolver resolver, DelayedMethodRules rules) {
		this.annotation = "@" + annotation.getSimpleName();
		this.resolver = resolver;
		this.rules = rules;
	}

	/**
	 * Reads the name of the tasks of a method. The default is the name of the bean and
	 * the name of the method.
	 * @param beanName the name by which users know the bean
	 */
	FixedAttribute<String> name(Method method, String text, String beanName) {
		return this.resolver.text(method, "the name of " + this.annotation, text, (resolved) -> {
			String name = StringUtils.hasText(resolved) ? resolved : beanName + "." + method.getName();
			checkName(method, this.annotation, name);
			return name;
		});
	}

	/**
	 * Checks the name that an annotation gives to tasks.
	 * @throws InvalidAnnotatedMethodException if no task can have this name
	 */
	static void checkName(Method method, String annotation, String name) {
		if (name.indexOf('/') >= 0) {
			throw new InvalidAnnotatedMethodException(method,
					"the name \"%s\" of %s contains a slash, which separates the name of a task from its key"
						.formatted(name, annotation),
					"set a name without slashes, such as \"%s\"".formatted(name.replace('/', '.')));
		}
	}

	/**
	 * Reads the name of an executor, empty for the default.
	 */
	FixedAttribute<String> executor(Method method, String text) {
		return this.resolver.text(method, "the executor of " + this.annotation, text, (executor) -> {
			if (StringUtils.hasText(executor)) {
				this.rules.checkExecutor(method, executor);
			}
			return executor;
		});
	}

	/**
	 * Reads a duration that must not be negative.
	 * @param attribute the name of the attribute, for messages
	 * @return the duration, {@code null} if the attribute is not set
	 */
	@Nullable FixedAttribute<Duration> duration(Method method, String attribute, String text) {
		if (!StringUtils.hasText(text)) {
			return null;
		}
		return this.resolver.duration(text, (duration) -> {
			Assert.isTrue(!duration.isNegative(), () -> "\"" + text + "\" is negative");
			return duration;
		}, (ex) -> new InvalidAnnotatedMethodException(method,
				"the %s of %s is unusable (%s)".formatted(attribute, this.annotation, ex.getMessage()),
				"set a duration such as 5m, or remove it", ex));
	}

	PolicyAttribute policy(Method method, TaskPolicy policy) {
		return PolicyAttribute.read(method, this.annotation, policy, this.resolver);
	}

}

package io.timingwheel.spring.aop.internal.delayed;

import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.lang.reflect.TypeVariable;
import java.time.Duration;
import java.time.ZoneId;
import java.util.Arrays;
import java.util.List;

import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.Recurring;
import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import io.timingwheel.spring.aop.internal.AnnotatedBeans;
import io.timingwheel.spring.aop.internal.AnnotatedMethods;
import io.timingwheel.spring.aop.internal.ArgumentExpression;
import io.timingwheel.spring.aop.internal.MethodAttributes;
import io.timingwheel.spring.task.Schedule;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.ResolvableType;
import org.springframework.util.StringUtils;
import org.springframework.util.function.SingletonSupplier;

/**
 * Reads {@link Delayed} and {@link Recurring} annotations in two phases: what the code
 * says before any bean is created, and the values when the beans exist. Throws an
 * {@link InvalidAnnotatedMethodException} for what cannot take effect.
 */
final class TaskMethodReader {

	private final ConfigurableListableBeanFactory beanFactory;

	private final TaskMethodRules rules;

	TaskMethodReader(ConfigurableListableBeanFactory beanFactory) {
		this.beanFactory = beanFactory;
		this.rules = new TaskMethodRules(beanFactory);
	}

	TaskMethod read(Method method, Annotation annotation, Class<?> beanClass, String beanName) {
		MethodAttributes attributes = new MethodAttributes(method, annotation, this.beanFactory);
		String publicName = AnnotatedBeans.publicName(beanName);
		TaskMethod task = new TaskMethod(publicName, method, annotation,
				AnnotatedMethods.argumentTypes(method, beanClass),
				new TaskMethod.Expressions(expression("key", method, annotation, attributes),
						expression("delayExpression", method, annotation, attributes)),
				SingletonSupplier.of(() -> values(publicName, method, annotation, attributes)));
		this.rules.check(task, attributes, beanClass, returnType(method, beanClass, beanName));
		return task;
	}

	private @Nullable ArgumentExpression expression(String attribute, Method method, Annotation annotation,
			MethodAttributes attributes) {
		return attributes.has(attribute)
				? new ArgumentExpression("@%s(%s)".formatted(annotation.annotationType().getSimpleName(), attribute),
						attributes.raw(attribute), method, this.beanFactory)
				: null;
	}

	/**
	 * The type that callers expect. Where the class of the bean leaves it open, such as
	 * that of a lambda expression, the definition of the bean may know it.
	 */
	private ResolvableType returnType(Method method, Class<?> beanClass, String beanName) {
		ResolvableType type = ResolvableType.forMethodReturnType(method, beanClass);
		if (!(type.getType() instanceof TypeVariable<?>) || !this.beanFactory.containsBeanDefinition(beanName)) {
			return type;
		}
		ResolvableType beanType = this.beanFactory.getMergedBeanDefinition(beanName).getResolvableType();
		return ResolvableType.forType(method.getGenericReturnType(), beanType.as(method.getDeclaringClass()));
	}

	private TaskMethod.Values values(String beanName, Method method, Annotation annotation,
			MethodAttributes attributes) {
		String name = attributes.name(beanName + "." + method.getName());
		String executor = attributes.text("executor");
		this.rules.checkExecutor(method, "@" + annotation.annotationType().getSimpleName(), executor);
		if (annotation instanceof Recurring recurring) {
			Schedule schedule = schedule(attributes);
			Duration first = attributes.duration("initialDelay");
			if (first == null && schedule != null && !schedule.isCron()) {
				first = Duration.ZERO;
			}
			return new TaskMethod.Values(name, List.of(), executor, attributes.policy(recurring.policy()), first, null,
					null, schedule);
		}
		Delayed delayed = (Delayed) annotation;
		List<String> aliases = Arrays.stream(delayed.aliases())
			.map(attributes::alias)
			.filter(StringUtils::hasText)
			.toList();
		return new TaskMethod.Values(name, aliases, executor, attributes.policy(delayed.policy()),
				attributes.has("delay") ? attributes.anyDuration("delay") : null, attributes.duration("maxWait"),
				attributes.duration("expireAfter"), null);
	}

	private static @Nullable Schedule schedule(MethodAttributes attributes) {
		String time = TaskMethodRules.times(attributes).get(0);
		String text = attributes.text(time);
		String zone = attributes.text("zone");
		if (text.equals(Recurring.DISABLED)) {
			return null;
		}
		return attributes.value("schedule \"%s\"".formatted(text),
				"set a cron expression of six fields such as 0 0 3 * * * in a zone such as Europe/Berlin, or a period such as 30s or PT1H,"
						+ " or \"-\" to switch the method off",
				() -> switch (time) {
					case "cron" -> Schedule.cron(text, zone.isEmpty() ? ZoneId.systemDefault() : ZoneId.of(zone));
					case "every" -> Schedule.every(MethodAttributes.toDuration(text));
					default -> Schedule.fixedDelay(MethodAttributes.toDuration(text));
				});
	}

}

package io.timingwheel.spring.aop.internal.delayed;

import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.lang.reflect.TypeVariable;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.ZoneId;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.Recurring;
import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import io.timingwheel.spring.aop.internal.AnnotatedMethodScanner;
import io.timingwheel.spring.aop.internal.AnnotatedMethods;
import io.timingwheel.spring.aop.internal.ArgumentExpression;
import io.timingwheel.spring.aop.internal.AttributeResolver;
import io.timingwheel.spring.aop.internal.MethodAttributes;
import io.timingwheel.spring.aop.internal.ProxyRules;
import io.timingwheel.spring.aop.internal.Refusal;
import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.Schedule;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.scheduling.annotation.Async;
import org.springframework.util.StringUtils;

/**
 * Reads and checks {@link Delayed} and {@link Recurring} annotations in two phases: what
 * the code says before any bean is created, and the values once they can be resolved. A
 * check that fails throws an {@link InvalidAnnotatedMethodException}.
 */
final class TaskMethodReader {

	private static final String CRON = "cron";

	private static final String EVERY = "every";

	/** The attributes that say when a method runs, with examples. */
	private static final Map<String, String> TIMES = new TreeMap<>(
			Map.of(CRON, "an expression of six fields such as 0 0 3 * * *, or a macro such as @daily", EVERY,
					"a period such as 30s, 10m or PT1H", "fixedDelay", "a pause such as 30s, 10m or PT1H"));

	private final ConfigurableListableBeanFactory beanFactory;

	private final ProxyRules proxyRules;

	private final TaskMethodRules rules;

	TaskMethodReader(ConfigurableListableBeanFactory beanFactory) {
		this.beanFactory = beanFactory;
		this.proxyRules = new ProxyRules(beanFactory);
		this.rules = new TaskMethodRules(beanFactory);
	}

	TaskMethod read(Method method, Annotation annotation, Class<?> beanClass, String beanName) {
		MethodAttributes attributes = new MethodAttributes(method, annotation, this.beanFactory);
		String publicName = AnnotatedMethodScanner.publicName(beanName);
		String type = "@" + annotation.annotationType().getSimpleName();
		Refusal.when(
				AnnotatedElementUtils.hasAnnotation(method, Async.class)
						|| AnnotatedElementUtils.hasAnnotation(beanClass, Async.class),
				method, type + " and @Async are on one method", "remove @Async: the method runs on an executor anyway");
		if (annotation instanceof Recurring recurring) {
			checkRecurring(method, recurring, attributes);
			return new TaskMethod(publicName, method, annotation, List.of(), null, null,
					attributes.once(() -> recurringValues(method, recurring, publicName, attributes)));
		}
		Delayed delayed = (Delayed) annotation;
		this.proxyRules.check("@Delayed", method, beanClass, beanName);
		TaskMethodRules.checkReturnType(method, returnType(method, beanClass, beanName), delayed.durable());
		if (delayed.transactional()) {
			TaskMethodRules.checkTransactional(method, beanClass, delayed.durable());
		}
		checkDelayed(method, delayed, attributes);
		ArgumentExpression delay = attributes.has("delay") ? null : ArgumentExpression
			.parse("@Delayed(delayExpression)", delayed.delayExpression(), method, this.beanFactory);
		KeySource key = attributes.has("key") ? new KeySource("@Delayed(key)", delayed.key(), method, this.beanFactory)
				: null;
		return new TaskMethod(publicName, method, annotation, AnnotatedMethods.argumentTypes(method, beanClass), key,
				delay, attributes.once(() -> delayedValues(method, delayed, publicName, attributes)));
	}

	private void checkDelayed(Method method, Delayed annotation, MethodAttributes attributes) {
		if (annotation.durable()) {
			this.rules.checkStore("@Delayed", method);
		}
		boolean hasDelay = attributes.has("delay");
		boolean hasExpression = attributes.has("delayExpression");
		Refusal.when(hasDelay && hasExpression, method, "@Delayed has both a delay and a delayExpression",
				"remove one of them");
		Refusal.when(!hasDelay && !hasExpression, method, "@Delayed has no delay",
				"set a delay such as 30s, or a delayExpression");
		boolean hasKey = attributes.has("key");
		Refusal.when(annotation.policy().maxConcurrentPerKey() > 0 && !hasKey, method,
				"the policy of @Delayed limits the runs of a key, but there is no key",
				"set the key to an expression on the arguments, or remove maxConcurrentPerKey");
		boolean hasMaxWait = attributes.has("maxWait");
		Refusal.when(hasMaxWait && !hasKey, method, "@Delayed has a maxWait, but no key",
				"set the key to an expression on the arguments, such as #id, or remove maxWait");
		Refusal.when(hasMaxWait && annotation.ifPending() != IfPending.REPLACE, method,
				"@Delayed has a maxWait, but ifPending = %s, which never puts a task off"
					.formatted(annotation.ifPending()),
				"remove maxWait, or set ifPending = REPLACE");
		Refusal.when(annotation.aliases().length > 0 && !annotation.durable(), method,
				"@Delayed has aliases, but is not durable", "set durable = true, or remove the aliases");
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

	private TaskMethod.Values delayedValues(Method method, Delayed annotation, String beanName,
			MethodAttributes attributes) {
		List<String> aliases = Arrays.stream(annotation.aliases())
			.map((alias) -> attributes.name("an alias", alias, ""))
			.filter(StringUtils::hasText)
			.toList();
		String name = attributes.name(beanName + "." + method.getName());
		String executor = executor("@Delayed", method, attributes);
		Duration delay = attributes.has("delay") ? attributes.duration("the delay", annotation.delay(),
				"set a delay such as 30s, 10m or PT1H, or use delayExpression for an expression on the arguments")
				: null;
		return new TaskMethod.Values(name, aliases, executor, attributes.policy(annotation.policy()),
				(delay != null) ? CallTime.after(delay) : null, attributes.duration("maxWait"),
				attributes.duration("expireAfter"), null);
	}

	private String executor(String annotation, Method method, MethodAttributes attributes) {
		String executor = attributes.text("executor").strip();
		this.rules.checkExecutor(annotation, method, executor);
		return executor;
	}

	private void checkRecurring(Method method, Recurring annotation, MethodAttributes attributes) {
		ProxyRules.checkCallable("@Recurring", method);
		ProxyRules.checkNotFinal("@Recurring", method);
		TaskMethodRules.checkRecurring(method);
		if (annotation.durable()) {
			this.rules.checkStore("@Recurring", method);
		}
		Refusal.when(AnnotatedElementUtils.hasAnnotation(method, Delayed.class), method,
				"@Recurring and @Delayed are on one method", "remove one of them");
		List<String> times = times(attributes);
		Refusal.when(times.isEmpty(), method, "@Recurring does not say when the method runs",
				"set cron, every or fixedDelay");
		Refusal.when(times.size() > 1, method, "@Recurring has " + String.join(" and ", times), "keep one of them");
		boolean isCron = times.contains(CRON);
		Refusal.when(!isCron && attributes.has("zone"), method, "@Recurring has a zone, but no cron expression",
				"remove the zone, or set cron");
		Refusal.when(isCron && attributes.has("initialDelay"), method,
				"@Recurring has an initialDelay, but a cron expression sets the first time too",
				"remove the initialDelay, or use every or fixedDelay");
		Refusal.when(annotation.policy().maxConcurrentPerKey() > 0, method,
				"the policy of @Recurring limits the runs of a key, but the method has only one task",
				"remove maxConcurrentPerKey: a method never overlaps itself");
	}

	/**
	 * The attributes that say when the method runs.
	 */
	private static List<String> times(MethodAttributes attributes) {
		return TIMES.keySet().stream().filter(attributes::has).toList();
	}

	private TaskMethod.Values recurringValues(Method method, Recurring annotation, String beanName,
			MethodAttributes attributes) {
		String name = attributes.name(beanName + "." + method.getName());
		String executor = executor("@Recurring", method, attributes);
		Schedule schedule = schedule(method, attributes);
		Duration initialDelay = attributes.duration("initialDelay");
		if (initialDelay == null && schedule != null && !schedule.isCron()) {
			initialDelay = Duration.ZERO;
		}
		return new TaskMethod.Values(name, List.of(), executor, attributes.policy(annotation.policy()),
				(initialDelay != null) ? CallTime.after(initialDelay) : null, null, null, schedule);
	}

	private static @Nullable Schedule schedule(Method method, MethodAttributes attributes) {
		String time = times(attributes).get(0);
		String text = attributes.text(time).strip();
		String zone = attributes.text("zone").strip();
		if (text.equals(Recurring.DISABLED)) {
			return null;
		}
		try {
			return switch (time) {
				case CRON -> Schedule.cron(text, zone.isEmpty() ? ZoneId.systemDefault() : ZoneId.of(zone));
				case EVERY -> Schedule.every(AttributeResolver.toDuration(text));
				default -> Schedule.fixedDelay(AttributeResolver.toDuration(text));
			};
		}
		catch (DateTimeException ex) {
			throw new InvalidAnnotatedMethodException(method,
					"the zone \"%s\" of @Recurring is unusable (%s)".formatted(zone, ex.getMessage()),
					"set a time zone such as Europe/Berlin, or remove it", ex);
		}
		catch (IllegalArgumentException ex) {
			throw new InvalidAnnotatedMethodException(method,
					"the %s \"%s\" of @Recurring is unusable (%s)".formatted(time, text, ex.getMessage()),
					"set %s, or \"-\" to switch the method off".formatted(TIMES.get(time)), ex);
		}
	}

	void checkScope(TaskMethod method) {
		this.rules.checkScope(method);
	}

}

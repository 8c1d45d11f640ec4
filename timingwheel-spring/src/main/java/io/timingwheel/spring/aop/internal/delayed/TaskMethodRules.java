package io.timingwheel.spring.aop.internal.delayed;

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.stream.Stream;

import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import io.timingwheel.spring.aop.internal.MethodAttributes;
import io.timingwheel.spring.aop.internal.ProxyRules;
import io.timingwheel.spring.aop.internal.Refusal;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.IfPending;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.annotation.BeanFactoryAnnotationUtils;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.KotlinDetector;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.scheduling.annotation.Async;

/**
 * Checks that an annotation of a task can take effect on a method. A check that fails
 * throws an {@link InvalidAnnotatedMethodException}.
 */
final class TaskMethodRules {

	private static final Set<Class<?>> RESULTS = Set.of(void.class, Future.class, CompletionStage.class,
			CompletableFuture.class, DelayedTask.class);

	private static final String TRANSACTIONAL = "org.springframework.transaction.annotation.Transactional";

	/** The propagations with which a body is not part of the caller's transaction. */
	private static final Set<String> OUTSIDE = Set.of("REQUIRES_NEW", "NOT_SUPPORTED", "NEVER");

	private final ConfigurableListableBeanFactory beanFactory;

	TaskMethodRules(ConfigurableListableBeanFactory beanFactory) {
		this.beanFactory = beanFactory;
	}

	/**
	 * Checks what the code says. Instantiates no bean.
	 */
	void check(TaskMethod task, MethodAttributes attributes, Class<?> beanClass, ResolvableType returnType) {
		Method method = task.method();
		ProxyRules.check(task.type(), method);
		Refusal.when(
				AnnotatedElementUtils.hasAnnotation(method, Async.class)
						|| AnnotatedElementUtils.hasAnnotation(beanClass, Async.class),
				method, task.type() + " and @Async are on one method",
				"remove @Async: the method runs on an executor anyway");
		Refusal.when(KotlinDetector.isSuspendingFunction(method), method,
				task.type() + " is on a suspend function, whose caller would wait for the delayed body",
				"make it an ordinary function that returns nothing or a CompletableFuture");
		Refusal.when(task.durable() && !isStoreConfigured(), method,
				task.type() + " is durable, but there is no store to keep its tasks in",
				"add the dependency io.timingwheel:timingwheel-jdbc or io.timingwheel:timingwheel-redis and set"
						+ " timingwheel.store.type to jdbc or redis, or remove durable = true");
		if (task.recurring()) {
			checkRecurring(method, attributes);
		}
		else {
			checkReturnType(method, returnType, task.durable());
			checkDelayed(task, attributes);
			checkTransactional(method, beanClass, task.delayed());
		}
	}

	boolean isStoreConfigured() {
		return BeanFactoryUtils.beanNamesForTypeIncludingAncestors(this.beanFactory, DurableMethods.class, true,
				false).length > 0;
	}

	/**
	 * Checks that a {@code @Delayed} method can return before its body has run, and that
	 * no caller waits for the result of a stored call.
	 */
	private static void checkReturnType(Method method, ResolvableType returnType, boolean durable) {
		Class<?> type = returnType.resolve(method.getReturnType());
		Refusal.when(!RESULTS.contains(type), method,
				"@Delayed is on a method that returns %s, which cannot be given before the body has run".formatted(
						type.getName()),
				"return void, Future, CompletionStage, CompletableFuture or DelayedTask");
		boolean noResult = type == void.class
				|| (type == DelayedTask.class && returnType.getGeneric(0).resolve() == Void.class);
		Refusal.when(durable && !noResult, method,
				"@Delayed is durable and on a method that returns %s, while any node may run the body"
					.formatted(returnType),
				"return void or DelayedTask<Void>");
	}

	private static void checkDelayed(TaskMethod task, MethodAttributes attributes) {
		Method method = task.method();
		Delayed annotation = task.delayed();
		boolean hasDelay = attributes.has("delay");
		boolean hasExpression = attributes.has("delayExpression");
		Refusal.when(hasDelay && hasExpression, method, "@Delayed has both a delay and a delayExpression",
				"remove one of them");
		Refusal.when(!hasDelay && !hasExpression, method, "@Delayed has no delay",
				"set a delay such as 30s, or a delayExpression");
		boolean hasMaxWait = attributes.has("maxWait");
		Refusal.when(hasMaxWait && !task.hasKey(), method, "@Delayed has a maxWait, but no key",
				"set the key to an expression on the arguments, such as #id, or remove maxWait");
		Refusal.when(hasMaxWait && annotation.ifPending() != IfPending.REPLACE, method,
				"@Delayed has a maxWait, but ifPending = %s, which never puts a task off"
					.formatted(annotation.ifPending()),
				"remove maxWait, or set ifPending = REPLACE");
		Refusal.when(annotation.aliases().length > 0 && !annotation.durable(), method,
				"@Delayed has aliases, but is not durable", "set durable = true, or remove the aliases");
	}

	/**
	 * Checks that the body can be part of the transaction that deletes its task.
	 */
	private static void checkTransactional(Method method, Class<?> beanClass, Delayed annotation) {
		Refusal.when(annotation.transactional() && !annotation.durable(), method,
				"@Delayed is transactional, but not durable",
				"set durable = true, or use @Transactional in place of transactional = true");
		String propagation = Stream.<AnnotatedElement>of(method, beanClass)
			.map((element) -> AnnotatedElementUtils.findMergedAnnotationAttributes(element, TRANSACTIONAL, false,
					false))
			.filter((attributes) -> attributes != null)
			.map((attributes) -> String.valueOf(attributes.get("propagation")))
			.findFirst()
			.orElse("");
		Refusal.when(annotation.transactional() && OUTSIDE.contains(propagation), method,
				"@Delayed is transactional, but @Transactional(propagation = %s) keeps the body out of its transaction"
					.formatted(propagation),
				"remove the propagation");
	}

	private static void checkRecurring(Method method, MethodAttributes attributes) {
		Refusal.when(method.getParameterCount() > 0, method,
				"@Recurring is on a method with arguments, and no caller gives them", "remove the parameters");
		Class<?> type = method.getReturnType();
		Refusal.when(
				type != void.class && !Future.class.isAssignableFrom(type)
						&& !CompletionStage.class.isAssignableFrom(type),
				method,
				"@Recurring is on a method that returns %s, which no caller would get".formatted(type.getName()),
				"return void, or a future such as CompletableFuture<Void> if the method returns before its work has ended");
		Refusal.when(AnnotatedElementUtils.hasAnnotation(method, Delayed.class), method,
				"@Recurring and @Delayed are on one method", "remove one of them");
		List<String> times = times(attributes);
		Refusal.when(times.isEmpty(), method, "@Recurring does not say when the method runs",
				"set cron, every or fixedDelay");
		Refusal.when(times.size() > 1, method, "@Recurring has " + String.join(" and ", times), "keep one of them");
		boolean isCron = times.contains("cron");
		Refusal.when(!isCron && attributes.has("zone"), method, "@Recurring has a zone, but no cron expression",
				"remove the zone, or set cron");
		Refusal.when(isCron && attributes.has("initialDelay"), method,
				"@Recurring has an initialDelay, but a cron expression sets the first time too",
				"remove the initialDelay, or use every or fixedDelay");
	}

	/**
	 * The attributes that say when a recurring method runs.
	 */
	static List<String> times(MethodAttributes attributes) {
		return Stream.of("cron", "every", "fixedDelay").filter(attributes::has).toList();
	}

	/**
	 * Checks that there is one executor of a name or qualifier.
	 */
	void checkExecutor(Method method, String type, String nameOrQualifier) {
		List<String> executors = List
			.of(BeanFactoryUtils.beanNamesForTypeIncludingAncestors(this.beanFactory, Executor.class));
		long matching = executors.stream()
			.filter((name) -> BeanFactoryAnnotationUtils.isQualifierMatch(nameOrQualifier::equals, name,
					this.beanFactory))
			.count();
		Refusal.when(!nameOrQualifier.isEmpty() && matching != 1, method,
				"%s names the executor \"%s\", but no single Executor bean has this name or qualifier".formatted(type,
						nameOrQualifier),
				"define the bean, or name one of " + executors);
	}

	/**
	 * Checks that the bean of a method exists outside of the request, or the like, of a
	 * caller. The scopes of these beans refuse them elsewhere.
	 */
	void checkScope(TaskMethod method) {
		BeanDefinition definition = definition(this.beanFactory, method.beanName());
		if (definition == null || definition.isSingleton() || definition.isPrototype()) {
			return;
		}
		try {
			this.beanFactory.getBean(target(this.beanFactory, method.beanName()));
		}
		catch (RuntimeException ex) {
			throw new InvalidAnnotatedMethodException(method.method(),
					"%s is on a method of a bean in the scope \"%s\", which is not active when the method runs"
						.formatted(method.type(), definition.getScope()),
					"make the bean \"%s\" a singleton, or move the method to another bean".formatted(method.beanName()),
					ex);
		}
	}

	/**
	 * The definition of the objects of a bean, which may be behind a scoped proxy.
	 */
	static @Nullable BeanDefinition definition(ConfigurableListableBeanFactory beanFactory, String beanName) {
		String name = target(beanFactory, beanName);
		return beanFactory.containsBeanDefinition(name) ? beanFactory.getMergedBeanDefinition(name) : null;
	}

	private static String target(ConfigurableListableBeanFactory beanFactory, String beanName) {
		String target = ScopedProxyUtils.getTargetBeanName(beanName);
		return beanFactory.containsBeanDefinition(target) ? target : beanName;
	}

}

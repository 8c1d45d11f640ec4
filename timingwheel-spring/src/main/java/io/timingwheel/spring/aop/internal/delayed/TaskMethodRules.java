package io.timingwheel.spring.aop.internal.delayed;

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;

import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import io.timingwheel.spring.aop.internal.Refusal;
import io.timingwheel.spring.task.DelayedTask;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.annotation.BeanFactoryAnnotationUtils;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.config.Scope;
import org.springframework.core.KotlinDetector;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;

/**
 * Checks that an annotation of a task can take effect on a method. A check that fails
 * throws an {@link InvalidAnnotatedMethodException}. No check instantiates a bean.
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
	 * Checks that a {@code @Delayed} method can return before its body has run, and that
	 * no caller waits for the result of a stored call.
	 */
	static void checkReturnType(Method method, ResolvableType returnType, boolean durable) {
		Refusal.when(KotlinDetector.isSuspendingFunction(method), method,
				"@Delayed is on a suspend function, whose caller would wait for the delayed body",
				"make it an ordinary function that returns nothing or a CompletableFuture");
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

	static void checkRecurring(Method method) {
		Refusal.when(KotlinDetector.isSuspendingFunction(method), method, "@Recurring is on a suspend function",
				"make it an ordinary function that returns nothing or a CompletableFuture");
		Refusal.when(method.getParameterCount() > 0, method,
				"@Recurring is on a method with arguments, and no caller gives them", "remove the parameters");
		Class<?> type = method.getReturnType();
		Refusal.when(
				type != void.class && !Future.class.isAssignableFrom(type)
						&& !CompletionStage.class.isAssignableFrom(type),
				method,
				"@Recurring is on a method that returns %s, which no caller would get".formatted(type.getName()),
				"return void, or a future such as CompletableFuture<Void> if the method returns before its work has ended");
	}

	void checkExecutor(String annotation, Method method, String nameOrQualifier) {
		if (nameOrQualifier.isEmpty() || isExecutor(nameOrQualifier)) {
			return;
		}
		List<String> executors = List.of(this.beanFactory.getBeanNamesForType(Executor.class, true, false));
		long qualified = executors.stream()
			.filter((name) -> BeanFactoryAnnotationUtils.isQualifierMatch(nameOrQualifier::equals, name,
					this.beanFactory))
			.count();
		Refusal.when(qualified == 0, method,
				"%s names the executor \"%s\", but no Executor bean has this name or qualifier".formatted(annotation,
						nameOrQualifier),
				"define the bean, or name one of " + executors);
		Refusal.when(qualified > 1, method, "%s names the executor \"%s\", but several beans have this qualifier"
			.formatted(annotation, nameOrQualifier), "name one of " + executors);
	}

	private boolean isExecutor(String name) {
		Class<?> type = this.beanFactory.containsBean(name) ? this.beanFactory.getType(name, false) : void.class;
		return type == null || Executor.class.isAssignableFrom(type);
	}

	boolean isStoreConfigured() {
		return BeanFactoryUtils.beanNamesForTypeIncludingAncestors(this.beanFactory, DurableMethods.class, true,
				false).length > 0;
	}

	void checkStore(String annotation, Method method) {
		Refusal.when(!isStoreConfigured(), method,
				annotation + " is durable, but there is no store to keep its tasks in",
				"add the dependency io.timingwheel:timingwheel-jdbc or io.timingwheel:timingwheel-redis and set"
						+ " timingwheel.store.type to jdbc or redis, or remove durable = true");
	}

	/**
	 * Checks that the bean of a method exists outside of the request, or the like, of a
	 * caller. The scopes must be registered.
	 */
	void checkScope(TaskMethod method) {
		BeanDefinition definition = TaskRuntime.definition(this.beanFactory, method.beanName());
		if (definition == null || definition.isSingleton() || definition.isPrototype()) {
			return;
		}
		String scope = String.valueOf(definition.getScope());
		Refusal.when(!isActive(this.beanFactory.getRegisteredScope(scope)), method.method(),
				"%s is on a method of a bean in the scope \"%s\", which is not active when the method runs"
					.formatted(method.type(), scope),
				"make the bean \"%s\" a singleton, or move the method to another bean".formatted(method.beanName()));
	}

	/**
	 * Asks a scope for an object of the current conversation, which the scopes of
	 * requests, sessions and batch steps refuse without one.
	 */
	private static boolean isActive(@Nullable Scope scope) {
		if (scope == null) {
			return false;
		}
		try {
			scope.resolveContextualObject("request");
			return true;
		}
		catch (RuntimeException ex) {
			return !(ex instanceof IllegalStateException);
		}
	}

	/**
	 * Checks that the body can be part of the transaction that deletes its task.
	 */
	static void checkTransactional(Method method, Class<?> beanClass, boolean durable) {
		Refusal.when(!durable, method, "@Delayed is transactional, but not durable",
				"set durable = true, or use @Transactional in place of transactional = true");
		String propagation = Arrays.<AnnotatedElement>asList(method, beanClass)
			.stream()
			.map((element) -> MergedAnnotations.from(element, SearchStrategy.TYPE_HIERARCHY).get(TRANSACTIONAL))
			.filter(MergedAnnotation::isPresent)
			.findFirst()
			.map((transactional) -> String.valueOf(transactional.getValue("propagation").orElse("")))
			.orElse("");
		Refusal.when(OUTSIDE.contains(propagation), method,
				"@Delayed is transactional, but @Transactional(propagation = %s) keeps the body out of its transaction"
					.formatted(propagation),
				"remove the propagation");
	}

}

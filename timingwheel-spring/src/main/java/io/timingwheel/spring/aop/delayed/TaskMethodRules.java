package io.timingwheel.spring.aop.delayed;

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
import io.timingwheel.spring.aop.internal.ReactiveTypes;
import io.timingwheel.spring.task.DelayedTask;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.annotation.BeanFactoryAnnotationUtils;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.config.Scope;
import org.springframework.core.KotlinDetector;
import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.scheduling.annotation.Async;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

/**
 * Checks that an annotation of a task can take effect on a method. A check that fails
 * throws an {@link InvalidAnnotatedMethodException}. No check instantiates a bean.
 */
final class TaskMethodRules {

	private static final Set<Class<?>> RESULTS = Set.of(Future.class, CompletionStage.class, CompletableFuture.class,
			DelayedTask.class);

	private static final String TRANSACTIONAL = "org.springframework.transaction.annotation.Transactional";

	/** The propagations with which a body is not part of the caller's transaction. */
	private static final Set<String> OUTSIDE = Set.of("REQUIRES_NEW", "NOT_SUPPORTED", "NEVER");

	private final ConfigurableListableBeanFactory beanFactory;

	TaskMethodRules(ConfigurableListableBeanFactory beanFactory) {
		this.beanFactory = beanFactory;
	}

	static void checkNotAsync(String annotation, Method method, Class<?> beanClass) {
		if (AnnotatedElementUtils.hasAnnotation(method, Async.class)
				|| AnnotatedElementUtils.hasAnnotation(beanClass, Async.class)) {
			throw new InvalidAnnotatedMethodException(method, annotation + " and @Async are on one method",
					"remove @Async: the method runs on an executor anyway");
		}
	}

	/**
	 * Checks that a {@code @Delayed} method can return before its body has run.
	 */
	static void checkReturnType(Method method, ResolvableType returnType) {
		Class<?> type = returnType.resolve(method.getReturnType());
		if (type == void.class || RESULTS.contains(type)) {
			return;
		}
		if (KotlinDetector.isSuspendingFunction(method)) {
			throw new InvalidAnnotatedMethodException(method,
					"@Delayed is on a suspend function, whose caller would wait for the delayed body",
					"make it an ordinary function that returns nothing or a CompletableFuture");
		}
		throw new InvalidAnnotatedMethodException(
				method, "@Delayed is on a method that returns %s, which cannot be given before the body has run"
					.formatted(type.getName()),
				"return void, Future, CompletionStage, CompletableFuture or DelayedTask");
	}

	/**
	 * Checks that {@code @CancelDelayed} can see when what a method returns completes.
	 */
	void checkCompletion(Method method) {
		Class<?> type = method.getReturnType();
		if (KotlinDetector.isSuspendingFunction(method) && !isPresent("kotlinx.coroutines.reactor.MonoKt")) {
			throw new InvalidAnnotatedMethodException(method,
					"@CancelDelayed is on a suspend function, whose completion Spring shows only with kotlinx-coroutines-reactor",
					"add the dependency org.jetbrains.kotlinx:kotlinx-coroutines-reactor, or set beforeInvocation = true");
		}
		ReactiveAdapter adapter = ReactiveTypes.adapterOf(type);
		if (adapter == null || CompletionStage.class.isAssignableFrom(type)) {
			return;
		}
		if (!isPresent("reactor.core.publisher.Mono")) {
			throw new InvalidAnnotatedMethodException(method,
					"@CancelDelayed is on a method that returns %s, whose completion is seen only with Reactor"
						.formatted(type.getName()),
					"add the dependency io.projectreactor:reactor-core, or set beforeInvocation = true");
		}
		if (!type.isAssignableFrom(adapter.getReactiveType())) {
			throw new InvalidAnnotatedMethodException(method,
					"@CancelDelayed is on a method that returns %s, which hides the completion of its subscriptions"
						.formatted(type.getName()),
					"return %s, or set beforeInvocation = true".formatted(adapter.getReactiveType().getSimpleName()));
		}
	}

	private boolean isPresent(String className) {
		return ClassUtils.isPresent(className, this.beanFactory.getBeanClassLoader());
	}

	/**
	 * Checks that a {@code @Recurring} method can run without a caller.
	 */
	static void checkRecurring(Method method) {
		if (KotlinDetector.isSuspendingFunction(method)) {
			throw new InvalidAnnotatedMethodException(method, "@Recurring is on a suspend function",
					"make it an ordinary function that returns nothing or a CompletableFuture");
		}
		if (method.getParameterCount() > 0) {
			throw new InvalidAnnotatedMethodException(method,
					"@Recurring is on a method with arguments, and no caller gives them", "remove the parameters");
		}
		Class<?> type = method.getReturnType();
		if (type != void.class && !Future.class.isAssignableFrom(type)
				&& !CompletionStage.class.isAssignableFrom(type)) {
			throw new InvalidAnnotatedMethodException(method,
					"@Recurring is on a method that returns %s, which no caller would get".formatted(type.getName()),
					"return void, or a future such as CompletableFuture<Void> if the method returns before its work has ended");
		}
	}

	/**
	 * Checks that exactly one executor has a name or qualifier.
	 */
	void checkExecutor(String annotation, Method method, String nameOrQualifier) {
		if (!StringUtils.hasText(nameOrQualifier) || isExecutor(nameOrQualifier)) {
			return;
		}
		String[] executors = this.beanFactory.getBeanNamesForType(Executor.class, true, false);
		List<String> qualified = Arrays.stream(executors)
			.filter((name) -> BeanFactoryAnnotationUtils.isQualifierMatch(nameOrQualifier::equals, name,
					this.beanFactory))
			.toList();
		if (qualified.isEmpty()) {
			throw new InvalidAnnotatedMethodException(method,
					"%s names the executor \"%s\", but no Executor bean has this name or qualifier".formatted(
							annotation, nameOrQualifier),
					"define the bean, or name one of " + List.of(executors));
		}
		if (qualified.size() > 1) {
			throw new InvalidAnnotatedMethodException(method,
					"%s names the executor \"%s\", but several beans have this qualifier: %s".formatted(annotation,
							nameOrQualifier, qualified),
					"use the name of one of them");
		}
	}

	private boolean isExecutor(String name) {
		if (!this.beanFactory.containsBean(name)) {
			return false;
		}
		Class<?> type = this.beanFactory.getType(name, false);
		return type == null || Executor.class.isAssignableFrom(type);
	}

	/**
	 * Whether tasks can be stored.
	 */
	boolean isStoreConfigured() {
		return BeanFactoryUtils.beanNamesForTypeIncludingAncestors(this.beanFactory, DurableMethods.class, true,
				false).length > 0;
	}

	void checkStore(String annotation, Method method) {
		if (!isStoreConfigured()) {
			throw new InvalidAnnotatedMethodException(method,
					annotation + " is durable, but there is no store to keep its tasks in",
					"add the dependency io.timingwheel:timingwheel-jdbc or io.timingwheel:timingwheel-redis and set"
							+ " timingwheel.store.type to jdbc or redis, or remove durable = true");
		}
	}

	/**
	 * Checks that the bean of a method exists outside of the request, or the like, of a
	 * caller. The scopes must be registered.
	 */
	void checkScope(TaskMethod method) {
		BeanDefinition definition = TaskRuntime.definition(this.beanFactory, method.beanName());
		String scope = (definition != null) ? definition.getScope() : null;
		if (StringUtils.hasLength(scope) && !scope.equals(BeanDefinition.SCOPE_SINGLETON)
				&& !scope.equals(BeanDefinition.SCOPE_PROTOTYPE) && !isActive(scope)) {
			throw new InvalidAnnotatedMethodException(method.method(),
					"%s is on a method of a bean in the scope \"%s\", which is not active when the method runs"
						.formatted(method.type(), scope),
					"make the bean \"%s\" a singleton, or move the method to another bean"
						.formatted(method.beanName()));
		}
	}

	/**
	 * Asks a scope for an object of the current conversation, which the scopes of
	 * requests, sessions and batch steps refuse without one.
	 */
	private boolean isActive(String name) {
		Scope scope = this.beanFactory.getRegisteredScope(name);
		if (scope == null) {
			return false;
		}
		try {
			scope.resolveContextualObject("request");
			return true;
		}
		catch (IllegalStateException ex) {
			return false;
		}
		catch (RuntimeException ex) {
			return true;
		}
	}

	/**
	 * Checks that the body can be part of the transaction that deletes its task.
	 */
	static void checkTransactional(Method method, Class<?> beanClass, boolean durable) {
		if (!durable) {
			throw new InvalidAnnotatedMethodException(method, "@Delayed is transactional, but not durable",
					"set durable = true, or use @Transactional in place of transactional = true");
		}
		MergedAnnotation<?> own = transactional(method);
		MergedAnnotation<?> effective = own.isPresent() ? own : transactional(beanClass);
		String propagation = effective.isPresent() ? String.valueOf(effective.getValue("propagation").orElse("")) : "";
		if (OUTSIDE.contains(propagation)) {
			throw new InvalidAnnotatedMethodException(method,
					"@Delayed is transactional, but @Transactional(propagation = %s) keeps the body out of its transaction"
						.formatted(propagation),
					"remove the propagation");
		}
	}

	private static MergedAnnotation<?> transactional(AnnotatedElement element) {
		return MergedAnnotations.from(element, SearchStrategy.TYPE_HIERARCHY).get(TRANSACTIONAL);
	}

	/**
	 * Checks that no caller waits for the result of a stored call.
	 */
	static void checkNoResult(Method method, ResolvableType type) {
		if (method.getReturnType() != void.class && !(type.resolve() == DelayedTask.class
				&& type.as(DelayedTask.class).getGeneric(0).resolve() == Void.class)) {
			throw new InvalidAnnotatedMethodException(method,
					"@Delayed is durable and on a method that returns %s, while any node may run the body"
						.formatted(type),
					"return void or DelayedTask<Void>");
		}
	}

}

package io.timingwheel.spring.aop.internal.delayed;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import io.timingwheel.spring.aop.internal.Refusal;
import io.timingwheel.spring.aop.internal.UncaughtExceptions;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.internal.BackoffSettings;
import io.timingwheel.spring.task.internal.PolicySettings;
import io.timingwheel.spring.task.internal.SecurityContextExecutors;
import io.timingwheel.spring.task.internal.TaskExecutors;
import io.timingwheel.spring.task.memory.DelayedTaskRegistry;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.interceptor.AsyncUncaughtExceptionHandler;
import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.annotation.BeanFactoryAnnotationUtils;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.util.ReflectionUtils;
import org.springframework.util.function.SingletonSupplier;

/**
 * The beans that the advice needs, each looked up at its first use, since Spring must not
 * create them before the advice. Thread-safe.
 */
final class TaskRuntime {

	/** Empty for an object without a definition. */
	private static final Set<String> STANDARD_SCOPES = Set.of("", BeanDefinition.SCOPE_SINGLETON,
			BeanDefinition.SCOPE_PROTOTYPE);

	private final ConfigurableListableBeanFactory beanFactory;

	/** Kept, since a closed bean factory would make a new registry. */
	private final SingletonSupplier<DelayedTaskRegistry> tasks;

	/**
	 * An {@code Optional}, since a supplier that gives {@code null} locks at each call.
	 */
	private final SingletonSupplier<Optional<DurableMethods>> durableMethods;

	private final AsyncUncaughtExceptionHandler exceptionHandler;

	TaskRuntime(ConfigurableListableBeanFactory beanFactory) {
		this.beanFactory = beanFactory;
		this.tasks = SingletonSupplier.of(() -> beanFactory.getBean(DelayedTaskRegistry.class));
		this.durableMethods = SingletonSupplier
			.of(() -> Optional.ofNullable(beanFactory.getBeanProvider(DurableMethods.class).getIfAvailable()));
		this.exceptionHandler = new UncaughtExceptions(beanFactory);
	}

	DelayedTaskRegistry tasks() {
		return this.tasks.obtain();
	}

	DurableMethods durableMethods() {
		return this.durableMethods.obtain().orElseThrow();
	}

	/** Whether tasks can be stored. Instantiates no bean. */
	boolean hasStore() {
		return BeanFactoryUtils.beanNamesForTypeIncludingAncestors(this.beanFactory, DurableMethods.class, true,
				false).length > 0;
	}

	/** A body that no caller runs has neither a request nor a security context. */
	void checkCanRun(TaskMethod method) {
		if (!method.recurring() && !method.durable()) {
			return;
		}
		String scope = scope(method.beanName());
		try {
			if (!STANDARD_SCOPES.contains(scope)) {
				this.beanFactory.getBean(target(method.beanName()));
			}
		}
		catch (RuntimeException ex) {
			throw new InvalidAnnotatedMethodException(method.method(),
					"%s is on a method of a bean in the scope \"%s\", which is not active when the method runs"
						.formatted(method.type(), scope),
					"make the bean \"%s\" a singleton, or move the method to another bean".formatted(method.beanName()),
					ex);
		}
		Supplier<Executor> executor = executor(method);
		if (SecurityContextExecutors.needsCaller(executor)) {
			throw new InvalidAnnotatedMethodException(method.method(),
					"its executor runs it with the security context of a caller, "
							+ (method.recurring() ? "and nobody calls it" : "which is not stored"),
					"name another executor, or give the " + executor.get().getClass().getSimpleName()
							+ " a SecurityContext of its own");
		}
	}

	/** By the definition, since the bean factory could instantiate a factory bean. */
	private String scope(String beanName) {
		String name = target(beanName);
		String scope = this.beanFactory.containsBeanDefinition(name)
				? this.beanFactory.getMergedBeanDefinition(name).getScope() : null;
		return Objects.requireNonNullElse(scope, "");
	}

	private String target(String beanName) {
		String target = ScopedProxyUtils.getTargetBeanName(beanName);
		return this.beanFactory.containsBeanDefinition(target) ? target : beanName;
	}

	/** Whether all calls go to the same object. */
	boolean isShared(String beanName) {
		return scope(beanName).equals(BeanDefinition.SCOPE_SINGLETON);
	}

	/** Declares the policy of a method, and checks it together with the properties. */
	DelayedTaskRegistry declare(TaskMethod method) {
		PolicySettings declared = method.values().policy();
		tasks().declare(method.name(), declared);
		PolicySettings policy = tasks().policies().of(method.name());
		Refusal.when(policy.maxConcurrentPerKey() != null && !method.hasKey(), method.method(),
				"its policy, or the property timingwheel.tasks.%s.max-concurrent-per-key, limits the runs of a key, but %s"
					.formatted(method.name(),
							method.recurring() ? "a @Recurring method has only one task" : "@Delayed has no key"),
				"remove the limit" + (method.recurring() ? "" : ", or set the key to an expression on the arguments"));
		// The configuration may switch further attempts off.
		Integer attempts = policy.maxAttempts();
		boolean once = (attempts != null) ? attempts == 1 && Objects.equals(declared.maxAttempts(), 1)
				: !method.durable();
		Refusal.when(once && !policy.backoff().equals(BackoffSettings.NONE), method.method(),
				"its policy has a backoff, but its tasks are tried only once",
				"set maxAttempts (or the property max-attempts) to at least 2, or remove the backoff");
		return tasks();
	}

	/** The store of a pending task, {@code null} for one in memory. */
	@Nullable DurableMethods storeOf(TaskId taskId) {
		DurableMethods durable = this.durableMethods.obtain().orElse(null);
		if (durable == null || durable.owns(taskId.name())) {
			return durable;
		}
		// An unknown name may belong to a method of other nodes.
		return tasks().isKnown(taskId.name()) ? null : durable;
	}

	@Nullable Object invoke(TaskMethod method, @Nullable Object[] arguments) throws Throwable {
		Object bean = this.beanFactory.getBean(method.beanName());
		Method invocable = AopUtils.selectInvocableMethod(method.method(), bean.getClass());
		ReflectionUtils.makeAccessible(invocable);
		try {
			return invocable.invoke(bean, arguments);
		}
		catch (InvocationTargetException ex) {
			throw ex.getTargetException();
		}
	}

	/**
	 * Checks that there is one executor of the name or qualifier, and gives it at its
	 * first use. The bean may be lazy.
	 */
	Supplier<Executor> executor(TaskMethod method) {
		String name = method.values().executor();
		List<String> executors = List
			.of(BeanFactoryUtils.beanNamesForTypeIncludingAncestors(this.beanFactory, Executor.class));
		long matching = executors.stream()
			.filter((bean) -> BeanFactoryAnnotationUtils.isQualifierMatch(name::equals, bean, this.beanFactory))
			.count();
		Refusal.when(!name.isEmpty() && matching != 1, method.method(),
				"%s names the executor \"%s\", but no single Executor bean has this name or qualifier"
					.formatted(method.type(), name),
				"define the bean, or name one of " + executors);
		return SingletonSupplier.of(() -> {
			TaskExecutors beans = this.beanFactory.getBean(TaskExecutors.class);
			return name.isEmpty() ? beans.defaultExecutor() : beans.named(name);
		});
	}

	@SuppressWarnings("NullAway") // NullAway misreads the variable arguments.
	void uncaught(Throwable error, Method method, @Nullable Object[] arguments) {
		this.exceptionHandler.handleUncaughtException(error, method, arguments);
	}

}

package io.timingwheel.spring.aop.internal;

import java.lang.reflect.Method;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.internal.PolicySettings;
import io.timingwheel.spring.task.internal.PolicySettings.BackoffSettings;
import io.timingwheel.spring.task.internal.SecurityContextExecutors;
import io.timingwheel.spring.task.internal.TaskExecutors;
import io.timingwheel.spring.task.memory.DelayedTaskRegistry;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.interceptor.AsyncUncaughtExceptionHandler;
import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.util.function.SingletonSupplier;

/**
 * The beans that the advice needs, each looked up at its first use, since Spring must not
 * create them before the advice. Thread-safe.
 */
final class TaskRuntime {

	private final ConfigurableListableBeanFactory beanFactory;

	/** Kept, since a closed bean factory would make a new registry. */
	private final SingletonSupplier<DelayedTaskRegistry> tasks;

	/**
	 * An {@code Optional}, since a supplier that gives {@code null} locks at each call.
	 */
	private final SingletonSupplier<Optional<DurableMethod.Store>> durableMethods;

	private final AsyncUncaughtExceptionHandler exceptionHandler;

	TaskRuntime(ConfigurableListableBeanFactory beanFactory) {
		this.beanFactory = beanFactory;
		this.tasks = SingletonSupplier.of(() -> beanFactory.getBean(DelayedTaskRegistry.class));
		this.durableMethods = SingletonSupplier
			.of(() -> Optional.ofNullable(beanFactory.getBeanProvider(DurableMethod.Store.class).getIfAvailable()));
		this.exceptionHandler = TaskExecutors.exceptionHandler(beanFactory);
	}

	DelayedTaskRegistry tasks() {
		return this.tasks.obtain();
	}

	DurableMethod.Store durableMethods() {
		return this.durableMethods.obtain().orElseThrow();
	}

	/** Whether tasks can be stored. Instantiates no bean. */
	boolean hasStore() {
		return BeanFactoryUtils.beanNamesForTypeIncludingAncestors(this.beanFactory, DurableMethod.Store.class, true,
				false).length > 0;
	}

	/** A body that no caller runs has no security context. */
	void checkCanRun(TaskMethod method) {
		Refusal.when((method.recurring() || method.durable()) && SecurityContextExecutors.needsCaller(executor(method)),
				method.method(),
				"its executor runs it with the security context of a caller, which it does not have then",
				"name another executor, or give this one a SecurityContext of its own");
	}

	/** Whether all calls go to the same object. */
	boolean isShared(String beanName) {
		String target = ScopedProxyUtils.getTargetBeanName(beanName);
		String name = this.beanFactory.containsBeanDefinition(target) ? target : beanName;
		// By the definition, since the bean factory could instantiate a factory bean.
		return this.beanFactory.containsBeanDefinition(name)
				&& this.beanFactory.getMergedBeanDefinition(name).isSingleton();
	}

	/** Declares the policy of a method, and checks it together with the properties. */
	DelayedTaskRegistry declare(TaskMethod method) {
		PolicySettings declared = method.values().policy();
		tasks().declare(method.name(), declared);
		PolicySettings policy = tasks().policies().of(method.name());
		Refusal.when(policy.maxConcurrentPerKey() != null && method.key() == null, method.method(),
				"its policy, or the property timingwheel.tasks.%s.max-concurrent-per-key, limits the runs of a key, but %s has no key"
					.formatted(method.name(), method.type()),
				"remove the limit, or set the key of a @Delayed method to an expression on the arguments");
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
	DurableMethod.@Nullable Store storeOf(TaskId taskId) {
		// An unknown name may belong to a method of other nodes.
		return this.durableMethods.obtain()
			.filter((store) -> store.owns(taskId.name()) || !tasks().isKnown(taskId.name()))
			.orElse(null);
	}

	@SuppressWarnings("NullAway") // Spring does not say that an argument may be null.
	@Nullable Object invoke(TaskMethod method, @Nullable Object[] arguments) throws Throwable {
		Object bean = this.beanFactory.getBean(method.beanName());
		return AopUtils.invokeJoinpointUsingReflection(bean,
				AopUtils.selectInvocableMethod(method.method(), bean.getClass()), arguments);
	}

	/** The default executor is made at its first use. */
	Supplier<Executor> executor(TaskMethod method) {
		TaskExecutors executors = this.beanFactory.getBean(TaskExecutors.class);
		String name = method.values().executor();
		if (name.isEmpty()) {
			return executors::defaultExecutor;
		}
		try {
			Executor executor = executors.named(name);
			return () -> executor;
		}
		catch (IllegalArgumentException ex) {
			throw new InvalidAnnotatedMethodException(method.method(),
					"the executor of %s is unusable (%s)".formatted(method.type(), ex.getMessage()),
					"define the bean, or name another one", ex);
		}
	}

	@SuppressWarnings("NullAway") // NullAway misreads the variable arguments.
	void uncaught(Throwable error, Method method, @Nullable Object[] arguments) {
		this.exceptionHandler.handleUncaughtException(error, method, arguments);
	}

}

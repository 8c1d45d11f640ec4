package io.timingwheel.spring.aop.internal.delayed;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Objects;
import java.util.Optional;
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
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.util.ReflectionUtils;
import org.springframework.util.function.SingletonSupplier;

/**
 * The beans that the advice needs at calls. The advice exists before Spring may create
 * these beans, so each bean is looked up at its first use. Thread-safe.
 */
final class TaskRuntime {

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

	/**
	 * Checks what depends on beans: the scope of the bean, and the executor.
	 */
	void checkCanRun(TaskMethod method) {
		if (method.recurring() || method.durable()) {
			new TaskMethodRules(this.beanFactory).checkScope(method);
			Supplier<Executor> executor = executor(method);
			if (SecurityContextExecutors.needsCaller(executor)) {
				throw new InvalidAnnotatedMethodException(method.method(),
						"its executor runs it with the security context of a caller, "
								+ (method.recurring() ? "and nobody calls it" : "which is not stored"),
						"name another executor, or give the " + executor.get().getClass().getSimpleName()
								+ " a SecurityContext of its own");
			}
		}
	}

	/**
	 * Declares the policy of a method, and checks it together with the properties.
	 */
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

	/**
	 * The store of a pending task, {@code null} for one in memory.
	 */
	@Nullable DurableMethods storeOf(TaskId taskId) {
		DurableMethods durable = this.durableMethods.obtain().orElse(null);
		if (durable == null || durable.owns(taskId.name())) {
			return durable;
		}
		// An unknown name may belong to a method of other nodes.
		return tasks().isKnown(taskId.name()) ? null : durable;
	}

	boolean isGone(String beanName) {
		return !this.beanFactory.containsBean(beanName);
	}

	/**
	 * Whether all calls go to the same object. Reads the bean definition, since a
	 * question to the bean factory could instantiate a factory bean.
	 */
	boolean isShared(String beanName) {
		BeanDefinition definition = TaskMethodRules.definition(this.beanFactory, beanName);
		return definition != null && definition.isSingleton();
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

	Supplier<Executor> executor(TaskMethod method) {
		String name = method.values().executor();
		return SingletonSupplier.of(() -> {
			TaskExecutors executors = this.beanFactory.getBean(TaskExecutors.class);
			return name.isEmpty() ? executors.defaultExecutor() : executors.named(name);
		});
	}

	@SuppressWarnings("NullAway") // NullAway misreads the variable arguments.
	void uncaught(Throwable error, Method method, @Nullable Object[] arguments) {
		this.exceptionHandler.handleUncaughtException(error, method, arguments);
	}

}

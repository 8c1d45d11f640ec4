package io.timingwheel.spring.aop.internal.delayed;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

import io.timingwheel.spring.annotation.Recurring;
import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import io.timingwheel.spring.aop.internal.Refusal;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.internal.BackoffSettings;
import io.timingwheel.spring.task.internal.PolicySettings;
import io.timingwheel.spring.task.internal.SecurityContextExecutors;
import io.timingwheel.spring.task.internal.TaskExecutors;
import io.timingwheel.spring.task.memory.DelayedTaskRegistry;
import io.timingwheel.spring.aop.internal.UncaughtExceptions;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.interceptor.AsyncUncaughtExceptionHandler;
import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.ObjectProvider;
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

	/**
	 * An {@code Optional}, since a supplier that gives {@code null} locks at each call.
	 */
	private final Supplier<Optional<DurableMethods>> durableMethods;

	private final AsyncUncaughtExceptionHandler exceptionHandler;

	/** Kept in a field, since a closed bean factory would make a new registry. */
	private volatile @Nullable DelayedTaskRegistry tasks;

	TaskRuntime(ConfigurableListableBeanFactory beanFactory) {
		this.beanFactory = beanFactory;
		ObjectProvider<DurableMethods> durable = beanFactory.getBeanProvider(DurableMethods.class);
		this.durableMethods = SingletonSupplier.of(() -> Optional.ofNullable(durable.getIfAvailable()));
		this.exceptionHandler = new UncaughtExceptions(beanFactory);
	}

	DelayedTaskRegistry tasks() {
		DelayedTaskRegistry tasks = this.tasks;
		if (tasks == null) {
			tasks = this.beanFactory.getBean(DelayedTaskRegistry.class);
			this.tasks = tasks;
		}
		return tasks;
	}

	DelayedTaskRegistry declare(TaskMethod method) {
		DelayedTaskRegistry tasks = tasks();
		PolicySettings declared = method.values().policy();
		tasks.declare(method.name(), declared);
		PolicySettings policy = tasks.policies().of(method.name());
		Refusal.when(policy.maxConcurrentPerKey() != null && method.key() == null, method.method(),
				"the property timingwheel.tasks.%s.max-concurrent-per-key limits the runs of a key, but %s".formatted(
						method.name(),
						method.recurring() ? "a @Recurring method has only one task" : "@Delayed has no key"),
				"remove the property"
						+ (method.recurring() ? "" : ", or set the key to an expression on the arguments"));
		// The configuration may switch further attempts off.
		Integer attempts = policy.maxAttempts();
		boolean once = (attempts != null) ? attempts == 1 && Objects.equals(declared.maxAttempts(), 1)
				: !method.durable();
		Refusal.when(once && !policy.backoff().equals(BackoffSettings.NONE), method.method(),
				"its policy has a backoff, but its tasks are tried only once",
				"set maxAttempts (or the property max-attempts) to at least 2, or remove the backoff");
		return tasks;
	}

	DurableMethods requireDurableMethods() {
		return this.durableMethods.get()
			.orElseThrow(() -> new IllegalStateException("There is no store to keep durable tasks in"));
	}

	DurableMethod durable(TaskMethod method, DurableMethod.Body body) {
		TaskMethod.Values values = method.values();
		Recurring recurring = (method.annotation() instanceof Recurring annotation) ? annotation : null;
		return new DurableMethod(method.name(), values.aliases(), method.method(), method.argumentTypes(),
				executor(method), values.expireAfter(), recurring == null && method.delayed().transactional(),
				(recurring != null) ? recurring.missed() : null, body,
				(error, arguments) -> uncaught(error, method.method(), arguments));
	}

	/**
	 * The store of a pending task, {@code null} for one in memory.
	 */
	@Nullable DurableMethods storeOf(TaskId taskId) {
		DurableMethods durable = this.durableMethods.get().orElse(null);
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
		BeanDefinition definition = definition(this.beanFactory, beanName);
		return definition != null && definition.isSingleton();
	}

	/**
	 * The definition of the objects of a bean, which may be behind a scoped proxy.
	 */
	static @Nullable BeanDefinition definition(ConfigurableListableBeanFactory beanFactory, String beanName) {
		String target = ScopedProxyUtils.getTargetBeanName(beanName);
		String name = beanFactory.containsBeanDefinition(target) ? target : beanName;
		return beanFactory.containsBeanDefinition(name) ? beanFactory.getMergedBeanDefinition(name) : null;
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

	void checkNeedsNoCaller(TaskMethod method, String problem) {
		Supplier<Executor> executor = executor(method);
		if (SecurityContextExecutors.needsCaller(executor)) {
			throw new InvalidAnnotatedMethodException(method.method(), problem, "name another executor, or give the "
					+ executor.get().getClass().getSimpleName() + " a SecurityContext of its own");
		}
	}

	@SuppressWarnings("NullAway") // NullAway misreads the variable arguments.
	void uncaught(Throwable error, Method method, @Nullable Object[] arguments) {
		this.exceptionHandler.handleUncaughtException(error, method, arguments);
	}

}

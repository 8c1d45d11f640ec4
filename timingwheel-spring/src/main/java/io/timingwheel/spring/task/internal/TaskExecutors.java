package io.timingwheel.spring.task.internal;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import java.util.stream.Stream;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.interceptor.AsyncUncaughtExceptionHandler;
import org.springframework.aop.interceptor.SimpleAsyncUncaughtExceptionHandler;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.BeanFactoryAnnotationUtils;
import org.springframework.core.task.TaskExecutor;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.scheduling.annotation.AsyncConfigurer;
import org.springframework.util.function.SingletonSupplier;

/**
 * The executors that run bodies. The default is the bean {@code applicationTaskExecutor},
 * else the only {@link TaskExecutor} bean, else the bean {@code taskExecutor}, else a
 * pool of its own, which is no bean since auto-configured executors would back off. A
 * {@link TaskScheduler} is never the default. Looked up at the first use. Thread-safe.
 *
 * <p>
 * Their exceptions go to the handler of an {@link AsyncConfigurer}, else to the handler
 * that is a bean, else to Spring's default, which logs.
 */
public final class TaskExecutors implements DisposableBean {

	private static final Log logger = LogFactory.getLog(TaskExecutors.class);

	private static final String APPLICATION_TASK_EXECUTOR = "applicationTaskExecutor";

	private static final String TASK_EXECUTOR = "taskExecutor";

	private final BeanFactory beanFactory;

	private final Supplier<? extends Executor> fallback;

	private final SingletonSupplier<Executor> defaultExecutor;

	private volatile @Nullable Executor ownPool;

	public TaskExecutors(BeanFactory beanFactory, Supplier<? extends Executor> fallback) {
		this.beanFactory = beanFactory;
		this.fallback = fallback;
		this.defaultExecutor = SingletonSupplier.of(this::findDefault);
	}

	public Executor defaultExecutor() {
		return this.defaultExecutor.obtain();
	}

	public Executor named(String nameOrQualifier) {
		try {
			return BeanFactoryAnnotationUtils.qualifiedBeanOfType(this.beanFactory, Executor.class, nameOrQualifier);
		}
		catch (NoSuchBeanDefinitionException ex) {
			throw new IllegalArgumentException(
					"There is no single Executor bean with the name or qualifier \"" + nameOrQualifier + "\"", ex);
		}
	}

	private Executor findDefault() {
		return bean(APPLICATION_TASK_EXECUTOR).or(this::findOnly)
			.or(() -> bean(TASK_EXECUTOR))
			.orElseGet(this::newPool);
	}

	private Executor newPool() {
		logger.info(("Found no executor '%s', no single TaskExecutor and no executor '%s' (a TaskScheduler is used only"
				+ " where it is named): delayed tasks run on a pool of their own")
			.formatted(APPLICATION_TASK_EXECUTOR, TASK_EXECUTOR));
		Executor pool = this.fallback.get();
		this.ownPool = pool;
		return pool;
	}

	private Optional<Executor> bean(String name) {
		boolean exists = this.beanFactory.containsBean(name) && this.beanFactory.isTypeMatch(name, Executor.class);
		return (exists ? Optional.of(this.beanFactory.getBean(name, Executor.class)) : Optional.<Executor>empty())
			.filter((executor) -> !(executor instanceof TaskScheduler));
	}

	/** Finds the only executor that is no scheduler, also behind its declared type. */
	private Optional<Executor> findOnly() {
		ObjectProvider<TaskExecutor> candidates = this.beanFactory.getBeanProvider(TaskExecutor.class);
		TaskExecutor only = candidates.getIfUnique();
		if (only != null && !(only instanceof TaskScheduler)) {
			return Optional.of(only);
		}
		List<TaskExecutor> others = candidates.stream((type) -> !TaskScheduler.class.isAssignableFrom(type))
			.filter((executor) -> !(executor instanceof TaskScheduler))
			.toList();
		return (others.size() == 1) ? Optional.of(others.get(0)) : Optional.empty();
	}

	/** Looks the handler of uncaught exceptions up at the first exception. */
	@SuppressWarnings("NullAway") // NullAway misreads the variable arguments.
	public static AsyncUncaughtExceptionHandler exceptionHandler(BeanFactory beanFactory) {
		SingletonSupplier<AsyncUncaughtExceptionHandler> handler = SingletonSupplier
			.of(() -> findExceptionHandler(beanFactory));
		return (error, method, arguments) -> handler.obtain().handleUncaughtException(error, method, arguments);
	}

	private static AsyncUncaughtExceptionHandler findExceptionHandler(BeanFactory beanFactory) {
		return beanFactory.getBeanProvider(AsyncConfigurer.class)
			.orderedStream()
			.flatMap((configurer) -> Stream.ofNullable(configurer.getAsyncUncaughtExceptionHandler()))
			.findFirst()
			.or(() -> beanFactory.getBeanProvider(AsyncUncaughtExceptionHandler.class).orderedStream().findFirst())
			.orElseGet(SimpleAsyncUncaughtExceptionHandler::new);
	}

	@Override
	public void destroy() throws Exception {
		if (this.ownPool instanceof DisposableBean pool) {
			pool.destroy();
		}
	}

}

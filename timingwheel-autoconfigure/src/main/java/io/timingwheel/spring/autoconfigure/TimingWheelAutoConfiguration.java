package io.timingwheel.spring.autoconfigure;

import java.time.Clock;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledExecutorService;

import io.timingwheel.TimingWheel;
import io.timingwheel.WheelSnapshot;
import io.timingwheel.spring.actuate.internal.StoredTasks;
import io.timingwheel.spring.aop.internal.AnnotatedBeans;
import io.timingwheel.spring.aop.internal.TaskMethodRegistry;
import io.timingwheel.spring.aop.internal.TimeoutMethodRegistry;
import io.timingwheel.spring.autoconfigure.internal.PropertyChecks;
import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.DelayedTaskTemplate;
import io.timingwheel.spring.task.TimingWheelTaskScheduler;
import io.timingwheel.spring.task.internal.HandOverExecutors;
import io.timingwheel.spring.task.internal.ManualTime;
import io.timingwheel.spring.task.internal.TaskExecution;
import io.timingwheel.spring.task.internal.TaskExecutors;
import io.timingwheel.spring.task.internal.TaskPolicies;
import io.timingwheel.spring.task.memory.CallerContext;
import io.timingwheel.spring.task.memory.DefaultDelayedTaskTemplate;
import io.timingwheel.spring.task.memory.DelayedTaskRegistry;
import io.timingwheel.spring.task.memory.TaskClock;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskSchedulingAutoConfiguration;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.task.ThreadPoolTaskExecutorCustomizer;
import org.springframework.boot.thread.Threading;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.ImportRuntimeHints;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.core.task.TaskDecorator;
import org.springframework.core.task.support.CompositeTaskDecorator;
import org.springframework.format.annotation.DurationFormat;
import org.springframework.format.datetime.standard.DurationFormatterUtils;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;

/**
 * Auto-configuration of the timing wheel, the template, and the annotations.
 *
 * @since 0.1
 */
@AutoConfiguration(after = TaskExecutionAutoConfiguration.class, before = TaskSchedulingAutoConfiguration.class)
@ConditionalOnBooleanProperty(name = "timingwheel.enabled", matchIfMissing = true)
@EnableConfigurationProperties(TimingWheelProperties.class)
@Import(AnnotatedBeans.Setup.class)
@ImportRuntimeHints(TaskPolicyProperties.Hints.class)
public final class TimingWheelAutoConfiguration {

	private static final Log logger = LogFactory.getLog(TimingWheelAutoConfiguration.class);

	private static final String THREAD_NAME_PREFIX = "delayed-";

	private static final int POOL_SIZE = 8;

	@Bean
	@ConditionalOnMissingBean
	TimingWheel timingWheel(TimingWheelProperties properties, ObjectProvider<TimingWheelBuilderCustomizer> customizers,
			TaskExecutors executors, HandOverExecutors handOvers, ObjectProvider<ManualTime> manualTime) {
		TimingWheel.Builder builder = TimingWheel
			.builder((task) -> handOvers.handOver(executors.defaultExecutor(), task, null));
		PropertyChecks.pass("timingwheel.tick", properties.tick(), builder::tick);
		PropertyChecks.pass("timingwheel.max-pending", properties.maxPending(), builder::maxPending);
		manualTime.ifAvailable((time) -> builder.timeSource(time.timeSource()));
		customizers.orderedStream().forEach((customizer) -> customizer.customize(builder));
		return builder.build();
	}

	@Bean
	static TimingWheelRequirements timingWheelRequirements(Environment environment) {
		return new TimingWheelRequirements(environment);
	}

	@Bean
	HandOverExecutors timingWheelHandOverExecutors(ObjectProvider<ManualTime> manualTime) {
		return new HandOverExecutors(manualTime.getIfAvailable() != null);
	}

	@Bean
	DelayedTaskRegistry timingWheelDelayedTasks(TimingWheel wheel, HandOverExecutors handOvers,
			ObjectProvider<TaskDecorator> decorators, ObjectProvider<TaskExecution.Interceptor> interceptors,
			ObjectProvider<ManualTime> manualTime, TaskPolicies policies) {
		TaskDecorator decorator = compose(decorators.orderedStream().toList());
		TaskExecution.Interceptor interceptor = TaskExecution.Interceptor
			.compose(interceptors.orderedStream().toList());
		ManualTime time = manualTime.getIfAvailable();
		TaskClock clock = new TaskClock(wheel.timeSource(), (time != null) ? time.clock() : Clock.systemUTC(), time);
		return new DelayedTaskRegistry(wheel, clock, handOvers, decorator, interceptor, policies);
	}

	private static @Nullable TaskDecorator compose(List<TaskDecorator> decorators) {
		return switch (decorators.size()) {
			case 0 -> null;
			case 1 -> decorators.get(0);
			default -> new CompositeTaskDecorator(decorators);
		};
	}

	@Bean
	static TaskPolicies timingWheelTaskPolicies(Environment environment, ObjectProvider<ManualTime> manualTime) {
		return new TaskPolicies(new TaskPolicyProperties(environment), manualTime.getIfAvailable() != null);
	}

	@Bean
	static TaskExecutors timingWheelTaskExecutors(BeanFactory beanFactory, Environment environment) {
		return new TaskExecutors(beanFactory, () -> newPool(environment));
	}

	private static Executor newPool(Environment environment) {
		if (Threading.VIRTUAL.isActive(environment)) {
			SimpleAsyncTaskExecutor executor = new SimpleAsyncTaskExecutor(THREAD_NAME_PREFIX);
			executor.setVirtualThreads(true);
			return executor;
		}
		ThreadPoolTaskExecutor pool = new ThreadPoolTaskExecutor();
		pool.setThreadNamePrefix(THREAD_NAME_PREFIX);
		pool.setCorePoolSize(POOL_SIZE);
		pool.setAllowCoreThreadTimeOut(true);
		pool.setDaemon(true);
		pool.initialize();
		return pool;
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static TimeoutMethodRegistry.Overrides timingWheelTimeoutOverrides(Environment environment) {
		return new TimeoutLimitProperties(environment);
	}

	@Bean
	static CallerContext timingWheelCallerContext(ObjectProvider<TaskDecorator> decorators,
			ObjectProvider<TaskExecutors> executors) {
		return new CallerContext(compose(decorators.orderedStream().toList()),
				() -> executors.getObject().defaultExecutor());
	}

	/** The template of a parent does not find the tasks of its child. */
	@Bean
	@ConditionalOnMissingBean(value = DelayedTaskOperations.class, search = SearchStrategy.CURRENT)
	DelayedTaskTemplate delayedTaskTemplate(DelayedTaskRegistry tasks, TaskExecutors executors,
			ObjectProvider<DefaultDelayedTaskTemplate.Store> stored, BeanFactory beanFactory) {
		return new DefaultDelayedTaskTemplate(tasks, executors, TaskExecutors.exceptionHandler(beanFactory),
				stored.getIfAvailable());
	}

	/**
	 * Replaces Boot's. It is also an executor, so Boot's {@code applicationTaskExecutor}
	 * would back off if this auto-configuration did not come later.
	 */
	@Bean
	@ConditionalOnBooleanProperty("timingwheel.task-scheduler.enabled")
	@ConditionalOnMissingBean({ TaskScheduler.class, ScheduledExecutorService.class })
	TimingWheelTaskScheduler taskScheduler(TimingWheel wheel) {
		return new TimingWheelTaskScheduler(wheel);
	}

	@Bean
	TimingWheelLifecycle timingWheelLifecycle(DelayedTaskRegistry tasks, TaskMethodRegistry recurring,
			HandOverExecutors handOvers, TimingWheelProperties properties,
			ConfigurableApplicationContext applicationContext) {
		return new TimingWheelLifecycle(tasks, recurring, handOvers, properties.shutdown(), applicationContext);
	}

	/** A child context that uses the wheel of its parent logs nothing. */
	@Bean
	@ConditionalOnMissingBean(name = "timingWheelStartupMessage")
	SmartInitializingSingleton timingWheelStartupMessage(TimingWheel wheel, ObjectProvider<StoredTasks> storedTasks) {
		return () -> {
			WheelSnapshot snapshot = wheel.snapshot();
			StoredTasks stored = storedTasks.getIfAvailable();
			logger.info("Timing wheel runs: tick %s, slots %d, shards %d, %s".formatted(
					DurationFormatterUtils.print(snapshot.tick(), DurationFormat.Style.COMPOSITE), snapshot.wheelSize(),
					snapshot.shards(), (stored != null) ? "store " + stored.node().storeName() : "no store"));
		};
	}

	/**
	 * With a strict early shutdown, Boot's executor would refuse the bodies that begin or
	 * go on while the context closes.
	 */
	@Bean
	@ConditionalOnProperty(name = "timingwheel.shutdown.pending", havingValue = "run")
	ThreadPoolTaskExecutorCustomizer timingWheelTaskExecutorCustomizer() {
		return (executor) -> executor.setAcceptTasksAfterContextClose(true);
	}

}

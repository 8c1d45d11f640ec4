package io.timingwheel.spring.autoconfigure;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

import io.timingwheel.ManualTimeSource;
import io.timingwheel.TimingWheel;
import io.timingwheel.WheelSnapshot;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.Timeout;
import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.DelayedTaskTemplate;
import io.timingwheel.spring.task.TaskId;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskSchedulingAutoConfiguration;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.task.ThreadPoolTaskExecutorCustomizer;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;
import org.springframework.core.task.TaskExecutor;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.scheduling.annotation.EnableScheduling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.mockito.Mockito.mock;

@ExtendWith(OutputCaptureExtension.class)
class TimingWheelAutoConfigurationTests {

	private final ApplicationContextRunner contextRunner = new ApplicationContextRunner().withConfiguration(
			AutoConfigurations.of(TaskExecutionAutoConfiguration.class, TaskSchedulingAutoConfiguration.class,
					TimingWheelAutoConfiguration.class, TimingWheelTaskSchedulerAutoConfiguration.class));

	@Test
	void offersARunningWheelAndATemplate() {
		this.contextRunner.run((context) -> {
			assertThat(context).hasSingleBean(TimingWheel.class)
				.hasBean("timingWheel")
				.hasSingleBean(DelayedTaskOperations.class)
				.hasBean("delayedTaskTemplate")
				.doesNotHaveBean(ThreadPoolTaskExecutorCustomizer.class)
				.getBean("delayedTaskTemplate")
				.isInstanceOf(DelayedTaskTemplate.class);
			WheelSnapshot wheel = context.getBean(TimingWheel.class).snapshot();
			assertThat(wheel.state()).isEqualTo(WheelSnapshot.State.RUNNING);
			assertThat(wheel.tick()).isEqualTo(Duration.ofMillis(1));
			assertThat(wheel.wheelSize()).isEqualTo(256);
			assertThat(Integer.bitCount(wheel.shards())).isOne();
			assertThat(threadOf(context.getBean(DelayedTaskOperations.class))).startsWith("task-");
			TimingWheel closed = context.getBean(TimingWheel.class);
			context.close();
			assertThat(closed.snapshot().state()).isEqualTo(WheelSnapshot.State.STOPPED);
		});
	}

	@Test
	void nothingIsThereWhenDisabledAndAnnotatedMethodsRunAtOnce() {
		this.contextRunner.withPropertyValues("timingwheel.enabled=false")
			.withConfiguration(AutoConfigurations.of(TimingWheelEndpointAutoConfiguration.class,
					TimingWheelHealthContributorAutoConfiguration.class, TimingWheelMetricsAutoConfiguration.class,
					TimingWheelObservationAutoConfiguration.class))
			.withBean("orders", Orders.class)
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(context.getBeanDefinitionNames())
					.noneMatch((name) -> name.toLowerCase().contains("timingwheel") || name.contains("delayedTask"));
				context.getBean(Orders.class).close(5);
				assertThat(context.getBean(Orders.class).closed()).isCompletedWithValue(5L);
			});
	}

	@Test
	void aWheelOfTheApplicationIsLeftAloneWhenDisabled() {
		ManualTimeSource time = new ManualTimeSource();
		this.contextRunner
			.withBean("myWheel", TimingWheel.class, () -> TimingWheel.builder(Runnable::run).timeSource(time).build())
			.withPropertyValues("timingwheel.enabled=false", "timingwheel.task-scheduler.enabled=true")
			.withConfiguration(AutoConfigurations.of(TimingWheelHealthContributorAutoConfiguration.class))
			.run((context) -> assertThat(context).hasNotFailed()
				.hasSingleBean(TimingWheel.class)
				.doesNotHaveBean(HealthIndicator.class));
	}

	@Test
	void aWheelOfTheApplicationIsUsedWithItsSettingsAndItsClock() {
		ManualTimeSource time = new ManualTimeSource();
		TimingWheel wheel = TimingWheel.builder(Runnable::run).timeSource(time).build();
		this.contextRunner.withBean("myWheel", TimingWheel.class, () -> wheel)
			.withPropertyValues("timingwheel.tick=25h")
			.run((context) -> {
				assertThat(context).hasSingleBean(TimingWheel.class).doesNotHaveBean("timingWheel");
				CompletableFuture<String> result = context.getBean(DelayedTaskOperations.class)
					.schedule(Duration.ofMinutes(30), () -> "done")
					.completion();
				time.advance(Duration.ofMinutes(30).minusNanos(1));
				assertThat(context.getBean(DelayedTaskOperations.class).pendingCount()).isOne();
				time.advance(Duration.ofNanos(1));
				assertThat(result).succeedsWithin(Duration.ofMinutes(1)).isEqualTo("done");
			});
	}

	@Test
	void operationsOfTheApplicationReplaceTheTemplate() {
		this.contextRunner.withBean("myTasks", DelayedTaskOperations.class, () -> mock(DelayedTaskOperations.class))
			.withBean("orders", Orders.class)
			.run((context) -> {
				assertThat(context).hasSingleBean(DelayedTaskOperations.class)
					.hasBean("myTasks")
					.doesNotHaveBean(DelayedTaskTemplate.class);
				context.getBean(Orders.class).close(5);
				assertThat(context.getBean(Orders.class).closed()).succeedsWithin(Duration.ofMinutes(1)).isEqualTo(5L);
			});
	}

	@Test
	void customizersAdjustTheWheelInTheirOrderAndAfterTheProperties() {
		this.contextRunner.withUserConfiguration(Customizers.class)
			.withPropertyValues("timingwheel.tick=10ms", "timingwheel.max-pending=1")
			.run((context) -> {
				assertThat(context.getBean(Customizers.class).calls).containsExactly("first", "second");
				WheelSnapshot wheel = context.getBean(TimingWheel.class).snapshot();
				assertThat(wheel.tick()).isEqualTo(Duration.ofMillis(30));
				assertThat(wheel.wheelSize()).isEqualTo(64);
			});
	}

	@Test
	void bootsExecutorAndSchedulerStay() {
		this.contextRunner.withUserConfiguration(Scheduling.class).run((context) -> {
			assertThat(context).hasBean("applicationTaskExecutor").hasBean("taskScheduler");
			assertThat(context.getBeanNamesForType(Executor.class)).containsExactlyInAnyOrder("applicationTaskExecutor",
					"taskScheduler");
			assertThat(context.getBeanNamesForType(TaskExecutor.class))
				.containsExactlyInAnyOrder("applicationTaskExecutor", "taskScheduler");
			assertThat(context.getBeanNamesForType(TaskScheduler.class)).containsExactly("taskScheduler");
			assertThat(context.getBean("taskScheduler").getClass().getPackageName()).startsWith("org.springframework.");
		});
	}

	@Test
	void aSchedulerOnTheWheelIsNotTheExecutorOfTheWheel() {
		this.contextRunner.withBean("myExecutor", Executor.class, Executors::newSingleThreadExecutor)
			.withPropertyValues("timingwheel.task-scheduler.enabled=true")
			.run((context) -> {
				assertThat(context.getBeanNamesForType(TaskExecutor.class)).containsExactly("taskScheduler");
				assertThat(threadOf(context.getBean(DelayedTaskOperations.class))).startsWith("delayed-");
			});
	}

	@Test
	void theTemplateOfAChildContextFindsTheTasksOfThatContext() {
		this.contextRunner.run((parent) -> this.contextRunner.withParent(parent)
			.withBean("orders", PatientOrders.class)
			.run((child) -> {
				child.getBean(PatientOrders.class).close(5);
				TaskId id = TaskId.of("close-order", 5);
				assertThat(child.getBean(DelayedTaskOperations.class).find(id)).isPresent();
				assertThat(parent.getBean(DelayedTaskOperations.class).find(id)).isEmpty();
				assertThat(child.getBean(TimingWheel.class)).isSameAs(parent.getBean(TimingWheel.class));
			}));
	}

	@Test
	void noBeanIsCreatedTooEarlyToBePostProcessed(CapturedOutput output) {
		this.contextRunner.withUserConfiguration(Scheduling.class)
			.withBean("orders", Orders.class)
			.withConfiguration(AutoConfigurations.of(TimingWheelEndpointAutoConfiguration.class,
					TimingWheelHealthContributorAutoConfiguration.class, TimingWheelMetricsAutoConfiguration.class,
					TimingWheelObservationAutoConfiguration.class))
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).doesNotContain("not eligible for getting processed by all BeanPostProcessors");
	}

	@Test
	void lazyInitializationDoesNotDelayTheRefusalOfWrongSettings() {
		this.contextRunner.withPropertyValues("timingwheel.tick=25h")
			.withInitializer(
					(context) -> context.addBeanFactoryPostProcessor(new LazyInitializationBeanFactoryPostProcessor()))
			.run((context) -> assertThat(context).hasFailed());
	}

	@Test
	void aContextThatClosesLeavesNoThreadBehind() {
		Set<Thread> before = ourThreads();
		this.contextRunner.withBean("myExecutor", Executor.class, Executors::newSingleThreadExecutor)
			.withPropertyValues("timingwheel.shutdown.await-termination-period=0s")
			.run((context) -> threadOf(context.getBean(DelayedTaskOperations.class)));
		await().untilAsserted(() -> assertThat(ourThreads()).isSubsetOf(before));
	}

	@Test
	void aContextThatFailsToStartLeavesNeitherAThreadNorAPendingTaskBehind() {
		Set<Thread> before = ourThreads();
		this.contextRunner.withBean(FailingLifecycle.class).run((context) -> assertThat(context).hasFailed());
		assertThat(FailingLifecycle.pending).isCancelled();
		await().untilAsserted(() -> assertThat(ourThreads()).isSubsetOf(before));
	}

	private static String threadOf(DelayedTaskOperations tasks) {
		return tasks.schedule(Duration.ZERO, () -> Thread.currentThread().getName())
			.completion()
			.orTimeout(60, TimeUnit.SECONDS)
			.join();
	}

	private static Set<Thread> ourThreads() {
		return Thread.getAllStackTraces()
			.keySet()
			.stream()
			.filter((thread) -> thread.getName().startsWith("timing-wheel") || thread.getName().startsWith("delayed-"))
			.collect(Collectors.toSet());
	}

	static class Orders {

		private final CompletableFuture<Long> closed = new CompletableFuture<>();

		@Delayed(delay = "10ms", name = "close-order", key = "#orderId")
		public void close(long orderId) {
			this.closed.complete(orderId);
		}

		@Timeout("1h")
		public CompletableFuture<Long> closed() {
			return this.closed;
		}

	}

	static class PatientOrders {

		@Delayed(delay = "1h", name = "close-order", key = "#orderId")
		public void close(long orderId) {
		}

	}

	static class FailingLifecycle implements SmartLifecycle {

		static CompletableFuture<?> pending;

		private final DelayedTaskOperations tasks;

		FailingLifecycle(DelayedTaskOperations tasks) {
			this.tasks = tasks;
		}

		@Override
		public void start() {
			pending = this.tasks.schedule(Duration.ofHours(1), () -> "never").completion();
			throw new IllegalStateException("Cannot start");
		}

		@Override
		public void stop() {
		}

		@Override
		public boolean isRunning() {
			return false;
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableScheduling
	static class Scheduling {

	}

	@Configuration(proxyBeanMethods = false)
	static class Customizers {

		final List<String> calls = new ArrayList<>();

		@Bean
		@Order(2)
		TimingWheelBuilderCustomizer second() {
			return (builder) -> {
				this.calls.add("second");
				builder.tick(Duration.ofMillis(30)).wheelSize(64);
			};
		}

		@Bean
		@Order(1)
		TimingWheelBuilderCustomizer first() {
			return (builder) -> {
				this.calls.add("first");
				builder.tick(Duration.ofMillis(20));
			};
		}

	}

}

package io.timingwheel.spring.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
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
import io.timingwheel.spring.task.Schedule;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.TimingWheelTaskScheduler;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskSchedulingAutoConfiguration;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.task.ThreadPoolTaskExecutorCustomizer;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.webmvc.test.autoconfigure.WebMvcTest;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.core.annotation.Order;
import org.springframework.core.task.TaskExecutor;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;
import org.springframework.test.context.ContextConfiguration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;
import static org.mockito.Mockito.mock;

@ExtendWith(OutputCaptureExtension.class)
class TimingWheelAutoConfigurationTests {

	private static final AutoConfigurations FURTHER = AutoConfigurations.of(TimingWheelActuatorAutoConfiguration.class);

	private final ApplicationContextRunner contextRunner = new ApplicationContextRunner().withConfiguration(
			AutoConfigurations.of(TaskExecutionAutoConfiguration.class, TaskSchedulingAutoConfiguration.class,
					TimingWheelAutoConfiguration.class, TimingWheelDisabledAutoConfiguration.class));

	@Test
	void offersARunningWheelAndATemplate() {
		this.contextRunner.run((context) -> {
			assertThat(context).hasSingleBean(TimingWheel.class)
				.hasBean("timingWheel")
				.hasSingleBean(DelayedTaskOperations.class)
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

	@ParameterizedTest
	@ValueSource(strings = { "true", "TRUE" })
	void oneLineNamesTheSettingsOfTheWheelAlsoIfBeansAreLazyAndAChildContextAddsNone(String value,
			CapturedOutput output) {
		this.contextRunner.withPropertyValues("timingwheel.enabled=" + value)
			.withInitializer(TimingWheelAutoConfigurationTests::lazy)
			.withBean(TimingWheelBuilderCustomizer.class, () -> (builder) -> builder.wheelSize(64).shards(2))
			.run((parent) -> {
				parent.getSourceApplicationContext().stop();
				parent.getSourceApplicationContext().start();
				this.contextRunner.withParent(parent)
					.run((child) -> assertThat(child.getBean(TimingWheel.class))
						.isSameAs(parent.getBean(TimingWheel.class)));
			});
		assertThat(linesWith("Timing wheel runs", output)).singleElement()
			.asString()
			.contains("INFO")
			.endsWith("Timing wheel runs: tick 1ms, slots 64, shards 2, no store");
		assertThat(output).doesNotContain("timingwheel.enabled");
	}

	@ParameterizedTest
	@ValueSource(strings = { "false", "FALSE", "no" })
	void anythingButTrueSwitchesOffWithOneWarningAndAnnotatedMethodsRunAtOnce(String value, CapturedOutput output) {
		this.contextRunner.withPropertyValues("timingwheel.enabled=" + value)
			.withConfiguration(FURTHER)
			.withBean("orders", Orders.class)
			.withBean(Invalid.class)
			.run((context) -> {
				assertThat(context.getBeanDefinitionNames())
					.noneMatch((name) -> name.matches("timingWheel(?!AutoConfigurationTests).*|delayedTask.*"));
				context.getBean(Orders.class).close(5);
				assertThat(context.getBean(Orders.class).closed()).isCompletedWithValue(5L);
			});
		assertThat(linesWith("timingwheel.enabled", output)).singleElement()
			.asString()
			.contains("WARN")
			.contains("methods with @Delayed, @CancelDelayed and @Timeout run at once");
		assertThat(linesWith("Timing wheel runs", output)).isEmpty();
	}

	private static List<String> linesWith(String text, CapturedOutput output) {
		return output.getOut().lines().filter((line) -> line.contains(text)).toList();
	}

	@Test
	void aWheelOfTheApplicationIsLeftAloneWhenDisabled() {
		this.contextRunner
			.withBean("myWheel", TimingWheel.class,
					() -> TimingWheel.builder(Runnable::run).timeSource(new ManualTimeSource()).build())
			.withPropertyValues("timingwheel.enabled=false", "timingwheel.task-scheduler.enabled=true")
			.withConfiguration(FURTHER)
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
				WheelSnapshot wheel = context.getBean(TimingWheel.class).snapshot();
				assertThat(wheel.tick()).isEqualTo(Duration.ofMillis(30));
				assertThat(wheel.wheelSize()).isEqualTo(64);
			});
	}

	@Test
	void bootsExecutorAndSchedulerStayAndNoBeanIsCreatedTooEarlyToBePostProcessed(CapturedOutput output) {
		this.contextRunner.withUserConfiguration(Scheduling.class)
			.withBean("orders", Orders.class)
			.withConfiguration(FURTHER)
			.run((context) -> {
				for (Class<?> type : List.of(Executor.class, TaskExecutor.class)) {
					assertThat(context.getBeanNamesForType(type)).containsExactlyInAnyOrder("applicationTaskExecutor",
							"taskScheduler");
				}
				assertThat(context.getBeanNamesForType(TaskScheduler.class)).containsExactly("taskScheduler");
				assertThat(context.getBean("taskScheduler").getClass().getPackageName())
					.startsWith("org.springframework.");
			});
		assertThat(output).doesNotContain("not eligible for getting processed by all BeanPostProcessors");
	}

	@Test
	void scheduledMethodsAndEventListenersHaveTheAdvice() {
		this.contextRunner.withUserConfiguration(Scheduling.class).withBean(Jobs.class).run((context) -> {
			assertThat(Jobs.interrupted).succeedsWithin(Duration.ofMinutes(1));
			context.publishEvent("paid");
			assertThat(context.getBean(DelayedTaskOperations.class).find(TaskId.of("confirm", "paid"))).isPresent();
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
	void scheduledMethodsRunOnTheWheelIfTheApplicationSaysSoUntilTheSchedulerEnds() {
		ApplicationContextRunner onTheWheel = this.contextRunner
			.withPropertyValues("timingwheel.task-scheduler.enabled=true");
		onTheWheel.withUserConfiguration(Scheduling.class).withBean(Beats.class).run((context) -> {
			List<String> threads = context.getBean(Beats.class).threads;
			await().until(() -> threads.size() >= 3);
			assertThat(threads).as("Boot's executor remains").allMatch((name) -> name.startsWith("task-"));
			TimingWheel wheel = context.getBean(TimingWheel.class);
			assertThat(wheel.snapshot().scheduled()).isGreaterThanOrEqualTo(3);
			context.getBean(TimingWheelTaskScheduler.class).destroy();
			await().until(() -> wheel.pending() == 0);
			assertThat(wheel.snapshot().state()).isEqualTo(WheelSnapshot.State.RUNNING);
		});
		onTheWheel.withBean("mine", TaskScheduler.class, ThreadPoolTaskScheduler::new)
			.run((context) -> assertThat(context).doesNotHaveBean(TimingWheelTaskScheduler.class));
	}

	@ParameterizedTest
	@ValueSource(strings = { "run", "RUN" })
	void theExecutorIsCustomizedForEverySpellingOfRun(String value) {
		this.contextRunner.withPropertyValues("timingwheel.shutdown.pending=" + value)
			.run((context) -> assertThat(context).hasBean("timingWheelTaskExecutorCustomizer"));
	}

	@Test
	void lazyInitializationDoesNotDelayTheRefusalOfWrongSettings() {
		this.contextRunner.withPropertyValues("timingwheel.tick=25h")
			.withInitializer(TimingWheelAutoConfigurationTests::lazy)
			.run((context) -> assertThat(context).hasFailed());
	}

	private static void lazy(ConfigurableApplicationContext context) {
		context.addBeanFactoryPostProcessor(new LazyInitializationBeanFactoryPostProcessor());
	}

	@Test
	void aContextThatFailsToStartLeavesNeitherAThreadNorAPendingTaskBehind() {
		Set<Thread> before = ourThreads();
		this.contextRunner.withBean(FailingStart.class).run((context) -> assertThat(context).hasFailed());
		assertThat(FailingStart.pending).isCancelled();
		await().untilAsserted(() -> assertThat(ourThreads()).isSubsetOf(before));
	}

	/** No module of durable tasks is on the class path of these tests. */
	@Test
	void aCallThatIsToBeStoredIsRefusedAndTheMessageNamesTheModulesToAdd() {
		this.contextRunner.run((context) -> {
			DelayedTaskOperations tasks = context.getBean(DelayedTaskOperations.class);
			TaskId id = TaskId.of("remind", 5);
			for (ThrowingCallable call : List.<ThrowingCallable>of(() -> tasks.enqueue(id, Duration.ofHours(1), 5),
					() -> tasks.recur(id, Schedule.every(Duration.ofHours(1)), 5))) {
				assertThatIllegalStateException().isThrownBy(call)
					.withMessageContaining("io.timingwheel:timingwheel-jdbc")
					.withMessageContaining("io.timingwheel:timingwheel-redis");
			}
		});
	}

	@Nested
	@WebMvcTest
	@ContextConfiguration(classes = Orders.class)
	class SliceTests {

		@Test
		void aSliceLeavesTimingwheelOutButForTheAnswersToTimeouts(@Autowired ApplicationContext context) {
			assertThat(context.getBeansOfType(TimingWheel.class)).isEmpty();
			assertThat(context.getBeansOfType(TimeoutAdvice.class)).hasSize(1);
		}

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

	static class Invalid {

		@Delayed("banana")
		private void run() {
		}

	}

	static class FailingStart {

		static CompletableFuture<?> pending;

		@EventListener
		void fail(ContextRefreshedEvent event) {
			pending = event.getApplicationContext()
				.getBean(DelayedTaskOperations.class)
				.schedule(Duration.ofHours(1), () -> "never")
				.completion();
			throw new IllegalStateException("Cannot start");
		}

	}

	@EnableScheduling
	static class Scheduling {

	}

	static class Beats {

		private final List<String> threads = new CopyOnWriteArrayList<>();

		@Scheduled(fixedRate = 10)
		void beat() {
			this.threads.add(Thread.currentThread().getName());
		}

	}

	static class Jobs {

		static final CompletableFuture<InterruptedException> interrupted = new CompletableFuture<>();

		@Scheduled(fixedDelay = 1, timeUnit = TimeUnit.HOURS)
		@Timeout("10ms")
		void poll() {
			try {
				TimeUnit.MINUTES.sleep(5);
			}
			catch (InterruptedException ex) {
				interrupted.complete(ex);
			}
		}

		@EventListener
		@Delayed(delay = "1h", name = "confirm", key = "#event")
		void confirm(String event) {
		}

	}

	static class Customizers {

		@Bean
		@Order(2)
		TimingWheelBuilderCustomizer second() {
			return (builder) -> builder.tick(Duration.ofMillis(30)).wheelSize(64);
		}

		@Bean
		@Order(1)
		TimingWheelBuilderCustomizer first() {
			return (builder) -> builder.tick(Duration.ofMillis(20));
		}

	}

}

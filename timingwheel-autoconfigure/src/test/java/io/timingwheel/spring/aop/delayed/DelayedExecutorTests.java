package io.timingwheel.spring.aop.delayed;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.task.DelayedTaskTemplate;
import io.timingwheel.spring.task.memory.DelayedTaskRegistry;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.core.task.TaskExecutor;
import org.springframework.scheduling.concurrent.SimpleAsyncTaskScheduler;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

class DelayedExecutorTests {

	private static final List<String> threads = new CopyOnWriteArrayList<>();

	private static volatile CountDownLatch release = new CountDownLatch(1);

	private final ApplicationContextRunner runner = DelayedContexts.runner();

	@BeforeEach
	void reset() {
		threads.clear();
		release = new CountDownLatch(1);
	}

	@ParameterizedTest
	@CsvSource(textBlock = """
			force, task-,  taskExecutor
			auto,  mine-,  mine
			auto,  taskExecutor-, mine taskExecutor
			""")
	void theExecutorIsTheApplicationTaskExecutorElseTheOnlyOneElseTheOneOfThatName(String mode, String prefix,
			String beans) {
		ApplicationContextRunner executors = this.runner.withPropertyValues("spring.task.execution.mode=" + mode)
			.withBean("service", Service.class);
		for (String bean : beans.split(" ")) {
			executors = executors.withBean(bean, TaskExecutor.class, () -> new SimpleAsyncTaskExecutor(bean + "-"));
		}
		executors.run((context) -> assertRunsOn(context, prefix));
	}

	@Test
	void aPoolThatIsNoBeanComesLast() {
		this.runner.withBean("mine", Executor.class, () -> Runnable::run)
			.withBean("service", Service.class)
			.run((context) -> {
				assertRunsOn(context, "delayed-");
				assertThat(context.getBeansOfType(Executor.class)).containsOnlyKeys("mine");
			});
	}

	@ParameterizedTest
	@ValueSource(strings = { "jobs", "taskScheduler", "taskExecutor", "applicationTaskExecutor" })
	void aSchedulerOfTheApplicationRunsNoBodies(String beanName) {
		ApplicationContextRunner schedulers = this.runner
			.withBean(beanName, ThreadPoolTaskScheduler.class, DelayedExecutorTests::scheduler)
			.withBean("service", Service.class);
		schedulers.run((context) -> assertRunsOn(context, "delayed-"));
		threads.clear();
		schedulers.withBean("mine", TaskExecutor.class, () -> new SimpleAsyncTaskExecutor("mine-"))
			.run((context) -> assertRunsOn(context, "mine-"));
	}

	@Test
	void aSchedulerThatItsTypeHidesRunsNoBodies() {
		this.runner.withBean("mine", TaskExecutor.class, DelayedExecutorTests::scheduler)
			.withBean("service", Service.class)
			.run((context) -> assertRunsOn(context, "delayed-"));
	}

	@Test
	void aSchedulerThatIsNamedRunsBodies() {
		this.runner.withBean("slow", ThreadPoolTaskScheduler.class, DelayedExecutorTests::scheduler)
			.withBean("first", SimpleAsyncTaskScheduler.class, SimpleAsyncTaskScheduler::new)
			.withBean("service", NamedService.class)
			.run((context) -> {
				context.getBean(NamedService.class).qualified();
				DelayedContexts.advanceAndAwait(context, Duration.ofSeconds(2));
				assertThat(threads).singleElement().asString().startsWith("scheduler-");
			});
	}

	private static ThreadPoolTaskScheduler scheduler() {
		ThreadPoolTaskScheduler scheduler = new ThreadPoolTaskScheduler();
		scheduler.setThreadNamePrefix("scheduler-");
		return scheduler;
	}

	@Test
	void theAnnotationNamesABeanOrAQualifier() {
		this.runner.withUserConfiguration(NamedExecutors.class)
			.withBean("service", NamedService.class)
			.run((context) -> {
				NamedService service = context.getBean(NamedService.class);
				service.named();
				service.qualified();
				DelayedContexts.advanceAndAwait(context, Duration.ofSeconds(2));
				assertThat(threads).hasSize(2)
					.anyMatch((name) -> name.startsWith("first-"))
					.anyMatch((name) -> name.startsWith("second-"));
			});
	}

	@Test
	void theTemplateTakesNamesAndExecutors() {
		this.runner.withUserConfiguration(NamedExecutors.class).run((context) -> {
			DelayedTaskTemplate template = context.getBean(DelayedTaskTemplate.class);
			template.task(() -> threads.add(Thread.currentThread().getName())).executor("first").after(Duration.ZERO);
			template.task(() -> threads.add(Thread.currentThread().getName()))
				.executor(new SimpleAsyncTaskExecutor("given-"))
				.after(Duration.ZERO);
			DelayedContexts.advanceAndAwait(context, Duration.ofMillis(1));
			assertThat(threads).hasSize(2)
				.anyMatch((name) -> name.startsWith("first-"))
				.anyMatch((name) -> name.startsWith("given-"));
		});
	}

	@ParameterizedTest
	@MethodSource
	void anExecutorThatBlocksItsCallerNeverStopsTheDriver(Executor executor) {
		DelayedContexts.realTimeRunner(NamedExecutors.class)
			.withPropertyValues("spring.task.execution.mode=force")
			.withBean("throttled", Executor.class, () -> executor)
			.withBean("blocking", BlockingService.class)
			.run(this::assertOthersStayOnTime);
	}

	static Stream<Executor> anExecutorThatBlocksItsCallerNeverStopsTheDriver() {
		SimpleAsyncTaskExecutor limited = new SimpleAsyncTaskExecutor("throttled-");
		limited.setConcurrencyLimit(1);
		ThreadPoolTaskExecutor callerRuns = smallPool();
		callerRuns.setRejectedExecutionHandler(new ThreadPoolExecutor.CallerRunsPolicy());
		return Stream.of(limited, callerRuns, Runnable::run);
	}

	private static ThreadPoolTaskExecutor smallPool() {
		ThreadPoolTaskExecutor executor = new ThreadPoolTaskExecutor();
		executor.setThreadNamePrefix("throttled-");
		executor.setCorePoolSize(1);
		executor.setMaxPoolSize(1);
		executor.setQueueCapacity(0);
		return executor;
	}

	@Test
	@EnabledForJreRange(min = JRE.JAVA_21)
	void theConcurrencyLimitOfTheApplicationTaskExecutorNeverStopsTheDriver() {
		DelayedContexts.realTimeRunner()
			.withPropertyValues("spring.threads.virtual.enabled=true",
					"spring.task.execution.simple.concurrency-limit=1")
			.withBean("blocking", DefaultBlockingService.class)
			.run((context) -> {
				for (int i = 0; i < 5; i++) {
					context.getBean(DefaultBlockingService.class).block();
				}
				await().until(() -> !threads.isEmpty());
				context.getBean(DelayedTaskTemplate.class)
					.task(() -> "on time")
					.executor(new SimpleAsyncTaskExecutor())
					.after(Duration.ofMillis(10))
					.get(60, TimeUnit.SECONDS);
				assertThat(threads).hasSize(1);
				release.countDown();
				await().until(() -> threads.size() == 5);
				DelayedContexts.awaitIdle(context);
			});
	}

	@Test
	void aRefusedTaskIsNotLost() {
		this.runner.withBean("throttled", Executor.class, DelayedExecutorTests::smallPool)
			.withBean("blocking", BlockingService.class)
			.run((context) -> {
				BlockingService service = context.getBean(BlockingService.class);
				for (int i = 0; i < 5; i++) {
					service.block();
				}
				DelayedContexts.advance(context, Duration.ofSeconds(1));
				await().until(() -> threads.size() == 1);
				assertThat(context.getBean(DelayedTaskRegistry.class).pendingCount()).isEqualTo(4);
				release.countDown();
				await().untilAsserted(() -> {
					DelayedContexts.advance(context, Duration.ofSeconds(1));
					assertThat(threads).hasSize(5);
				});
				DelayedContexts.awaitIdle(context);
			});
	}

	@Test
	@EnabledForJreRange(min = JRE.JAVA_21)
	void bodiesRunOnVirtualThreads() {
		this.runner.withPropertyValues("spring.threads.virtual.enabled=true")
			.withBean("service", Service.class)
			.run((context) -> {
				context.getBean(Service.class).thread();
				DelayedContexts.advanceAndAwait(context, Duration.ofSeconds(2));
				assertThat(threads).singleElement().asString().startsWith("VirtualThread");
			});
	}

	private void assertOthersStayOnTime(ApplicationContext context) throws Exception {
		BlockingService service = context.getBean(BlockingService.class);
		DelayedTaskTemplate template = context.getBean(DelayedTaskTemplate.class);
		for (int i = 0; i < 5; i++) {
			service.block();
		}
		await().until(() -> !threads.isEmpty());
		for (int i = 0; i < 20; i++) {
			// The others block for longer.
			template.schedule(Duration.ofMillis(10), () -> {
			}).get(60, TimeUnit.SECONDS);
		}
		assertThat(threads.size()).isLessThan(5);
		release.countDown();
		await().until(() -> threads.size() == 5);
		DelayedContexts.awaitIdle(context);
	}

	private static void assertRunsOn(ApplicationContext context, String prefix) {
		context.getBean(Service.class).run();
		DelayedContexts.advanceAndAwait(context, Duration.ofSeconds(2));
		assertThat(threads).singleElement().asString().startsWith(prefix);
	}

	static class Service {

		@Delayed("1s")
		public void run() {
			threads.add(Thread.currentThread().getName());
		}

		@Delayed("1s")
		public void thread() {
			threads.add(Thread.currentThread().toString());
		}

	}

	static class NamedService {

		@Delayed(delay = "1s", executor = "${first-name:first}")
		public void named() {
			threads.add(Thread.currentThread().getName());
		}

		@Delayed(delay = "1s", executor = "slow")
		public void qualified() {
			threads.add(Thread.currentThread().getName());
		}

	}

	static class BlockingService {

		@Delayed(delay = "0", executor = "throttled")
		public void block() throws InterruptedException {
			threads.add(Thread.currentThread().getName());
			release.await(5, TimeUnit.MINUTES);
		}

	}

	static class DefaultBlockingService {

		@Delayed("0")
		public void block() throws InterruptedException {
			threads.add(Thread.currentThread().getName());
			release.await(5, TimeUnit.MINUTES);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class NamedExecutors {

		@Bean
		TaskExecutor first() {
			return new SimpleAsyncTaskExecutor("first-");
		}

		@Bean
		@Lazy
		@Qualifier("slow")
		Executor second() {
			return Executors.newSingleThreadExecutor((task) -> new Thread(task, "second-"));
		}

	}

}

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

import io.timingwheel.spring.VirtualApplication;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.task.DelayedTask;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.core.task.TaskExecutor;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Which executor runs a body, and that no executor stops the wheel.
 */
class DelayedExecutorTests {

	private static final List<String> threads = new CopyOnWriteArrayList<>();

	@BeforeEach
	void reset() {
		threads.clear();
	}

	private static VirtualApplication application(Class<?>... beans) {
		return VirtualApplication.of(beans).withExecutors();
	}

	private static TaskExecutor named(String name) {
		return new SimpleAsyncTaskExecutor(name + "-");
	}

	private static ThreadPoolTaskScheduler scheduler() {
		ThreadPoolTaskScheduler scheduler = new ThreadPoolTaskScheduler();
		scheduler.setThreadNamePrefix("scheduler-");
		return scheduler;
	}

	private static void run(VirtualApplication application, Runnable... calls) {
		Stream.of(calls).forEach(Runnable::run);
		application.advanceSeconds(1);
		application.awaitIdle();
	}

	private static void assertRunsOn(String prefix, VirtualApplication application) {
		try (application) {
			run(application, application.bean(Service.class)::run);
			assertThat(threads).singleElement().asString().startsWith(prefix);
		}
		threads.clear();
	}

	@Test
	void theExecutorIsTheApplicationTaskExecutorElseTheOnlyOneElseTheOneOfThatNameElseAPoolThatIsNoBean() {
		assertRunsOn("task-", application(Service.class).with("spring.task.execution.mode=force")
			.with("taskExecutor", TaskExecutor.class, () -> named("other")));
		assertRunsOn("mine-", application(Service.class).with("mine", TaskExecutor.class, () -> named("mine")));
		assertRunsOn("named-", application(Service.class).with("mine", TaskExecutor.class, () -> named("mine"))
			.with("taskExecutor", TaskExecutor.class, () -> named("named")));
		assertRunsOn("delayed-", application(Service.class).with("mine", Executor.class, () -> Runnable::run));
	}

	@ParameterizedTest
	@ValueSource(strings = { "jobs", "taskScheduler", "taskExecutor", "applicationTaskExecutor" })
	void aSchedulerOfTheApplicationRunsNoBodies(String name) {
		assertRunsOn("delayed-",
				application(Service.class).with(name, ThreadPoolTaskScheduler.class, DelayedExecutorTests::scheduler));
		assertRunsOn("mine-",
				application(Service.class).with(name, ThreadPoolTaskScheduler.class, DelayedExecutorTests::scheduler)
					.with("mine", TaskExecutor.class, () -> named("mine")));
	}

	@Test
	void aSchedulerThatItsTypeHidesRunsNoBodies() {
		assertRunsOn("delayed-",
				application(Service.class).with("mine", TaskExecutor.class, DelayedExecutorTests::scheduler));
	}

	@Test
	void theAnnotationNamesABeanOrAQualifierAndMayNameAScheduler() {
		try (VirtualApplication application = application(NamedExecutors.class, NamedService.class)) {
			NamedService service = application.bean(NamedService.class);
			run(application, service::named, service::qualified, service::onScheduler);
			assertThat(threads).hasSize(3)
				.anyMatch((name) -> name.startsWith("first-"))
				.anyMatch((name) -> name.startsWith("second-"))
				.anyMatch((name) -> name.startsWith("scheduler-"));
		}
	}

	@Test
	void theTemplateTakesNamesAndExecutors() {
		try (VirtualApplication application = application(NamedExecutors.class)) {
			Runnable body = () -> threads.add(Thread.currentThread().getName());
			application.tasks().task(body).executor("first").after(Duration.ZERO);
			application.tasks().task(body).executor(named("given")).after(Duration.ZERO);
			run(application);
			assertThat(threads).hasSize(2)
				.anyMatch((name) -> name.startsWith("first-"))
				.anyMatch((name) -> name.startsWith("given-"));
		}
	}

	@Test
	@EnabledForJreRange(min = JRE.JAVA_21)
	void bodiesRunOnVirtualThreads() {
		try (VirtualApplication application = application(Service.class).with("spring.threads.virtual.enabled=true")) {
			run(application, application.bean(Service.class)::thread);
			assertThat(threads).singleElement().asString().startsWith("VirtualThread");
		}
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
		executor.setMaxPoolSize(1);
		executor.setQueueCapacity(0);
		return executor;
	}

	@ParameterizedTest
	@MethodSource
	void anExecutorThatBlocksItsCallerNeverStopsTheDriver(Executor executor) {
		assertOthersStayOnTime(application(BlockingService.class).with("spring.task.execution.mode=force")
			.with("throttled", Executor.class, () -> executor));
	}

	@Test
	@EnabledForJreRange(min = JRE.JAVA_21)
	void theConcurrencyLimitOfTheApplicationTaskExecutorNeverStopsTheDriver() {
		assertOthersStayOnTime(application(BlockingService.class, NamedExecutors.class).with(
				"spring.threads.virtual.enabled=true", "spring.task.execution.simple.concurrency-limit=1",
				"blocking-executor=applicationTaskExecutor", "spring.task.execution.mode=force"));
	}

	private static void assertOthersStayOnTime(VirtualApplication application) {
		try (application) {
			BlockingService service = application.bean(BlockingService.class);
			CountDownLatch release = new CountDownLatch(1);
			for (int i = 0; i < 5; i++) {
				service.block(release);
			}
			application.advanceSeconds(1);
			await().until(() -> !threads.isEmpty());
			for (int i = 0; i < 20; i++) {
				DelayedTask<String> other = application.tasks()
					.task(() -> "on time")
					.executor(named("other"))
					.after(Duration.ofMillis(10));
				application.advance(Duration.ofMillis(10));
				assertThat(other.completion()).succeedsWithin(60, TimeUnit.SECONDS);
			}
			assertThat(threads).hasSizeLessThan(5);
			release.countDown();
			await().until(() -> threads.size() == 5);
			application.awaitIdle();
		}
	}

	@Test
	void aRefusedTaskIsNotLost() {
		try (VirtualApplication application = application(BlockingService.class).with("throttled", Executor.class,
				DelayedExecutorTests::smallPool)) {
			CountDownLatch release = new CountDownLatch(1);
			for (int i = 0; i < 5; i++) {
				application.bean(BlockingService.class).block(release);
			}
			application.advanceSeconds(1);
			await().until(() -> threads.size() == 1);
			assertThat(application.pending()).isEqualTo(4);
			release.countDown();
			await().untilAsserted(() -> {
				application.advanceSeconds(1);
				assertThat(threads).hasSize(5);
			});
			application.awaitIdle();
		}
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

		@Delayed(delay = "1s", executor = "scheduler")
		public void onScheduler() {
			threads.add(Thread.currentThread().getName());
		}

	}

	static class BlockingService {

		@Delayed(delay = "0", executor = "${blocking-executor:throttled}")
		public void block(CountDownLatch release) {
			threads.add(Thread.currentThread().getName());
			try {
				release.await(5, TimeUnit.MINUTES);
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class NamedExecutors {

		@Bean
		TaskExecutor first() {
			return DelayedExecutorTests.named("first");
		}

		@Bean
		@Lazy
		@Qualifier("slow")
		Executor second() {
			return Executors.newSingleThreadExecutor((task) -> new Thread(task, "second-"));
		}

		@Bean
		ThreadPoolTaskScheduler scheduler() {
			return DelayedExecutorTests.scheduler();
		}

	}

}

package io.timingwheel.spring.aop.delayed;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;

import io.timingwheel.spring.VirtualApplication;
import io.timingwheel.spring.annotation.Delayed;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.core.task.TaskExecutor;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;

import static org.assertj.core.api.Assertions.assertThat;

/** Which executor runs a body. */
class DelayedExecutorTests {

	private static final List<String> threads = new CopyOnWriteArrayList<>();

	@BeforeEach
	void reset() {
		threads.clear();
	}

	private static VirtualApplication application(String... properties) {
		return VirtualApplication.of(Service.class).withExecutors().with(properties);
	}

	private static TaskExecutor named(String name) {
		return new SimpleAsyncTaskExecutor(name + "-");
	}

	private static ThreadPoolTaskScheduler scheduler() {
		ThreadPoolTaskScheduler scheduler = new ThreadPoolTaskScheduler();
		scheduler.setThreadNamePrefix("scheduler-");
		return scheduler;
	}

	private static void note() {
		Thread thread = Thread.currentThread();
		threads.add(thread + " [" + thread.getName());
	}

	private static void assertRunOn(VirtualApplication application, String... names) {
		application.advanceSeconds(1);
		application.awaitIdle();
		assertThat(threads).hasSize(names.length);
		for (String name : names) {
			assertThat(threads).as(name).filteredOn((thread) -> thread.contains(name)).hasSize(1);
		}
	}

	private static void assertRunsOn(String name, VirtualApplication application) {
		try (application) {
			application.bean(Service.class).run();
			assertRunOn(application, name);
		}
		threads.clear();
	}

	@Test
	void theExecutorIsTheApplicationTaskExecutorElseTheOnlyOneElseTheOneOfThatNameElseAPoolThatIsNoBean() {
		assertRunsOn("[task-", application("spring.task.execution.mode=force").with("taskExecutor", TaskExecutor.class,
				() -> named("other")));
		assertRunsOn("[mine-", application().with("mine", TaskExecutor.class, () -> named("mine")));
		assertRunsOn("[named-", application().with("mine", TaskExecutor.class, () -> named("mine"))
			.with("taskExecutor", TaskExecutor.class, () -> named("named")));
		assertRunsOn("[delayed-", application().with("mine", Executor.class, () -> Runnable::run));
	}

	@ParameterizedTest
	@ValueSource(strings = { "jobs", "taskScheduler", "taskExecutor", "applicationTaskExecutor" })
	void aSchedulerOfTheApplicationRunsNoBodiesAlsoIfItsTypeHidesIt(String name) {
		assertRunsOn("[delayed-", application().with(name, TaskExecutor.class, DelayedExecutorTests::scheduler));
		assertRunsOn("[mine-", application().with(name, ThreadPoolTaskScheduler.class, DelayedExecutorTests::scheduler)
			.with("mine", TaskExecutor.class, () -> named("mine")));
	}

	@Test
	void anAnnotationNamesABeanOrAQualifierAndMayNameASchedulerAndTheTemplateTakesAnExecutorToo() {
		try (VirtualApplication application = application("first-name=first")
			.with(SlowExecutor.class, ServiceOfNamed.class)
			.with("first", TaskExecutor.class, () -> named("first"))
			.with("third", TaskExecutor.class, () -> named("third"))
			.with("scheduler", ThreadPoolTaskScheduler.class, DelayedExecutorTests::scheduler)) {
			ServiceOfNamed service = application.bean(ServiceOfNamed.class);
			service.named();
			service.qualified();
			service.onScheduler();
			application.tasks().task(DelayedExecutorTests::note).executor("third").after(Duration.ZERO);
			application.tasks().task(DelayedExecutorTests::note).executor(named("given")).after(Duration.ZERO);
			assertRunOn(application, "[first-", "[second-", "[scheduler-", "[third-", "[given-");
		}
	}

	@Test
	@EnabledForJreRange(min = JRE.JAVA_21)
	void bodiesRunOnVirtualThreads() {
		assertRunsOn("VirtualThread", application("spring.threads.virtual.enabled=true"));
	}

	static class Service {

		@Delayed("1s")
		public void run() {
			note();
		}

	}

	static class ServiceOfNamed {

		@Delayed(delay = "1s", executor = "${first-name}")
		public void named() {
			note();
		}

		@Delayed(delay = "1s", executor = "#{'slow'}")
		public void qualified() {
			note();
		}

		@Delayed(delay = "1s", executor = "scheduler")
		public void onScheduler() {
			note();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class SlowExecutor {

		@Bean
		@Lazy
		@Qualifier("slow")
		Executor second() {
			return Executors.newSingleThreadExecutor((task) -> new Thread(task, "second-"));
		}

	}

}

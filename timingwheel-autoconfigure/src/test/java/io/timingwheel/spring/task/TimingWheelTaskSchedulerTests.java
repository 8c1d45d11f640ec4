package io.timingwheel.spring.task;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.atomic.AtomicInteger;

import io.timingwheel.ManualTimeSource;
import io.timingwheel.TimingWheel;
import io.timingwheel.WheelSnapshot;
import io.timingwheel.spring.autoconfigure.TimingWheelAutoConfiguration;
import io.timingwheel.spring.autoconfigure.TimingWheelBuilderCustomizer;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskSchedulingAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.task.AsyncTaskExecutor;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;
import org.springframework.scheduling.support.CronTrigger;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link TimingWheelTaskScheduler}.
 */
class TimingWheelTaskSchedulerTests {

	private final ManualTimeSource time = new ManualTimeSource();

	private final TimingWheel wheel = TimingWheel.builder(Runnable::run).timeSource(this.time).build();

	private final TimingWheelTaskScheduler scheduler = new TimingWheelTaskScheduler(this.wheel);

	private final ApplicationContextRunner contextRunner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(TaskExecutionAutoConfiguration.class,
				TaskSchedulingAutoConfiguration.class, TimingWheelAutoConfiguration.class));

	@Test
	void ratesStartTimesAndTriggersAreFollowed() {
		AtomicInteger runs = new AtomicInteger();
		AtomicInteger started = new AtomicInteger();
		ScheduledFuture<?> future = this.scheduler.scheduleAtFixedRate(runs::incrementAndGet, Duration.ofSeconds(1));
		this.scheduler.schedule(started::incrementAndGet, Instant.now().plusSeconds(60));
		this.scheduler.schedule(started::incrementAndGet, new CronTrigger("0 0 0 1 1 *"));
		assertThat(this.wheel.pending()).isEqualTo(3);
		this.time.advance(Duration.ofMillis(3500));
		assertThat(runs).hasValue(4);
		assertThat(future.cancel(false)).isTrue();
		assertThat(started).hasValue(0);
		this.time.advance(Duration.ofSeconds(60));
		assertThat(runs).hasValue(4);
		assertThat(started.get()).isPositive();
	}

	@Test
	void destroyingTheSchedulerLeavesTheWheelRunning() {
		AtomicInteger runs = new AtomicInteger();
		this.scheduler.scheduleWithFixedDelay(runs::incrementAndGet, Instant.now().plusSeconds(5),
				Duration.ofSeconds(1));
		this.scheduler.destroy();
		this.time.advance(Duration.ofMinutes(1));
		assertThat(runs).hasValue(0);
		assertThat(this.wheel.pending()).isZero();
		assertThat(this.wheel.snapshot().state()).isEqualTo(WheelSnapshot.State.RUNNING);
	}

	@Test
	void whenEnabledScheduledMethodsRunOnTheWheelAndBootsExecutorRemains() {
		this.contextRunner.withUserConfiguration(ScheduledConfiguration.class)
			.withPropertyValues("timingwheel.task-scheduler.enabled=true")
			.run((context) -> {
				assertThat(context).getBean(TaskScheduler.class).isInstanceOf(TimingWheelTaskScheduler.class);
				assertThat(context).getBean("applicationTaskExecutor").isInstanceOf(AsyncTaskExecutor.class);
				List<String> threads = context.getBean(ScheduledConfiguration.class).threads;
				Awaitility.await().until(() -> threads.size() >= 3);
				assertThat(threads).allMatch((name) -> name.startsWith("task-"));
				assertThat(context.getBean(TimingWheel.class).snapshot().scheduled()).isGreaterThanOrEqualTo(3);
			});
	}

	@Test
	void byDefaultTheSchedulerIsThatOfBootAndAlwaysThatOfTheUserIfThereIsOne() {
		this.contextRunner.withUserConfiguration(ScheduledConfiguration.class)
			.run((context) -> assertThat(context).hasSingleBean(ThreadPoolTaskScheduler.class));
		this.contextRunner.withBean("mine", TaskScheduler.class, ThreadPoolTaskScheduler::new)
			.withPropertyValues("timingwheel.task-scheduler.enabled=true")
			.run((context) -> assertThat(context).doesNotHaveBean(TimingWheelTaskScheduler.class));
	}

	@Configuration(proxyBeanMethods = false)
	@EnableScheduling
	static class ScheduledConfiguration {

		final List<String> threads = new CopyOnWriteArrayList<>();

		@Scheduled(fixedRate = 10)
		void run() {
			this.threads.add(Thread.currentThread().getName());
		}

		@Bean
		TimingWheelBuilderCustomizer finer() {
			return (builder) -> builder.tick(Duration.ofMillis(2));
		}

	}

}

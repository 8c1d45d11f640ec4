package io.timingwheel.spring.aop;

import java.time.Duration;

import io.timingwheel.ManualTimeSource;
import io.timingwheel.spring.annotation.CancelDelayed;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.Recurring;
import io.timingwheel.spring.autoconfigure.TimingWheelAutoConfiguration;
import io.timingwheel.spring.autoconfigure.TimingWheelBuilderCustomizer;
import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.TaskId;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.test.context.bean.override.convention.TestBean;
import org.springframework.test.context.bean.override.mockito.MockitoBean;
import org.springframework.test.context.junit.jupiter.SpringJUnitConfig;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.verify;

/**
 * A mock takes the place of the bean and of its proxy. The name of its task is known.
 */
@SpringJUnitConfig(MockitoBeanTests.Application.class)
class MockitoBeanTests {

	@MockitoBean
	private Orders orders;

	@MockitoBean
	private Job job;

	@MockitoBean
	private Hidden hidden;

	@Autowired
	private Payments payments;

	@TestBean
	private OtherJob otherJob;

	@Autowired
	private DelayedTaskOperations tasks;

	@Autowired
	private ManualTimeSource time;

	static OtherJob otherJob() {
		return new OtherJob();
	}

	@Test
	void theNameOfATaskIsKnownAndNeitherAMockNorAnObjectOfTheTestRunsByItself() {
		this.payments.pay(5);
		assertThat(this.tasks.find(TaskId.of("job.run", "recurring"))).isEmpty();
		assertThat(this.tasks.find(TaskId.of("otherJob.run", "recurring"))).isEmpty();
		this.time.advance(Duration.ofHours(5));
		verify(this.job, never()).run();
		verify(this.hidden, never()).hide();
	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ TaskExecutionAutoConfiguration.class, TimingWheelAutoConfiguration.class })
	static class Application {

		@Bean
		ManualTimeSource time() {
			return new ManualTimeSource();
		}

		@Bean
		TimingWheelBuilderCustomizer manualTime(ManualTimeSource time) {
			return (builder) -> builder.timeSource(time);
		}

		@Bean
		Orders orders() {
			return new Orders();
		}

		@Bean
		Payments payments() {
			return new Payments();
		}

		@Bean
		Job job() {
			return new Job();
		}

		@Bean
		OtherJob otherJob() {
			return new OtherJob();
		}

		@Bean
		Hidden hidden() {
			return new HiddenJob();
		}

	}

	static class Payments {

		@CancelDelayed(name = "close-order", key = "#id")
		public void pay(long id) {
		}

		@CancelDelayed(name = "hide", key = "#id")
		public void show(long id) {
		}

	}

	static class Job {

		@Recurring(every = "1h")
		public void run() {
		}

	}

	static class OtherJob {

		@Recurring(every = "1h")
		public void run() {
		}

	}

	interface Hidden {

		void hide();

	}

	static class HiddenJob implements Hidden {

		@Override
		@Delayed(delay = "1h", name = "hide")
		public void hide() {
		}

	}

	static class Orders {

		@Delayed(delay = "1h", name = "close-order", key = "#id")
		public void close(long id) {
		}

	}

}

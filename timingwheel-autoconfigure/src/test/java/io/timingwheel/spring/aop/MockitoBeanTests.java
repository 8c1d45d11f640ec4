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
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.test.context.bean.override.convention.TestBean;
import org.springframework.test.context.bean.override.mockito.MockitoBean;
import org.springframework.test.context.bean.override.mockito.MockitoSpyBean;
import org.springframework.test.context.junit.jupiter.SpringJUnitConfig;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.timeout;
import static org.mockito.Mockito.verify;

/**
 * A mock takes the place of the bean and of its proxy: a call is seen at once, and
 * schedules nothing. A spy is inside of the proxy: its body runs after the delay.
 */
class MockitoBeanTests {

	@Nested
	@SpringJUnitConfig(Application.class)
	class WithMock {

		@MockitoBean
		private Orders orders;

		@Autowired
		private DelayedTaskOperations tasks;

		@Test
		void aCallIsSeenAtOnceAndSchedulesNothing() {
			this.orders.close(5);
			verify(this.orders).close(5);
			assertThat(this.tasks.pendingCount()).isZero();
		}

	}

	@Nested
	@SpringJUnitConfig({ Application.class, OtherBeans.class })
	class WithMockBehindAnotherBean {

		@MockitoBean
		private Orders orders;

		@MockitoBean
		private Job job;

		@MockitoBean
		private Hidden hidden;

		@Autowired
		private Payments payments;

		@Autowired
		private ManualTimeSource time;

		@Autowired
		private DelayedTaskOperations tasks;

		@Test
		void theNameOfATaskIsKnownAndAMockDoesNotRunByItself() {
			this.payments.pay(5);
			assertThat(this.tasks.find(TaskId.of("job.run", "recurring"))).isEmpty();
			this.time.advance(Duration.ofHours(5));
			verify(this.job, never()).run();
			verify(this.hidden, never()).hide();
		}

	}

	@Nested
	@SpringJUnitConfig({ Application.class, OtherBeans.class })
	class WithTestBean {

		@TestBean
		private Job job;

		@Autowired
		private DelayedTaskOperations tasks;

		static Job job() {
			return new Job();
		}

		@Test
		void anObjectOfTheTestDoesNotRunByItself() {
			assertThat(this.tasks.find(TaskId.of("job.run", "recurring"))).isEmpty();
		}

	}

	@Nested
	@SpringJUnitConfig(Application.class)
	class WithSpy {

		@MockitoSpyBean
		private Orders orders;

		@Autowired
		private DelayedTaskOperations tasks;

		@Autowired
		private ManualTimeSource time;

		@Test
		void theBodyIsSeenAfterTheDelay() {
			this.orders.close(5);
			this.orders.close(6);
			assertThat(this.tasks.find(TaskId.of("close-order", 5))).isPresent();
			verify(this.orders, never()).close(5);
			this.orders.pay(6);
			verify(this.orders).pay(6);
			this.time.advance(Duration.ofHours(1));
			verify(this.orders, timeout(60_000)).close(5);
			verify(this.orders, never()).close(6);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ TaskExecutionAutoConfiguration.class, TimingWheelAutoConfiguration.class })
	static class Application {

		@Bean
		Orders orders() {
			return new Orders();
		}

		@Bean
		ManualTimeSource time() {
			return new ManualTimeSource();
		}

		@Bean
		TimingWheelBuilderCustomizer manualTime(ManualTimeSource time) {
			return (builder) -> builder.timeSource(time);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OtherBeans {

		@Bean
		Payments payments() {
			return new Payments();
		}

		@Bean
		Job job() {
			return new Job();
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

		@CancelDelayed(name = "close-order", key = "#id")
		public void pay(long id) {
		}

	}

}

package io.timingwheel.spring.aop.delayed;

import java.time.Duration;

import io.timingwheel.ManualTimeSource;
import io.timingwheel.spring.annotation.CancelDelayed;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.Recurring;
import io.timingwheel.spring.autoconfigure.TimingWheelAutoConfiguration;
import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.TaskId;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
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
	private Hidden hidden;

	@Test
	void theNameOfATaskIsKnownAndNoMockRunsByItself(@Autowired Payments payments,
			@Autowired DelayedTaskOperations tasks, @Autowired ManualTimeSource time) {
		payments.pay(5);
		assertThat(tasks.find(TaskId.of("report", "recurring"))).isEmpty();
		time.advance(Duration.ofHours(5));
		verify(this.orders, never()).report();
		verify(this.hidden, never()).hide();
	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ TaskExecutionAutoConfiguration.class, TimingWheelAutoConfiguration.class })
	@Import({ DelayedContexts.VirtualTime.class, Payments.class, Orders.class })
	static class Application {

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

	static class Orders {

		@Delayed(delay = "1h", name = "close-order", key = "#id")
		public void close(long id) {
		}

		@Recurring(every = "1h", name = "report")
		public void report() {
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

}

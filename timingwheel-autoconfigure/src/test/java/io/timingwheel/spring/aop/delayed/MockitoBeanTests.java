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
import org.springframework.test.context.bean.override.mockito.MockitoBean;
import org.springframework.test.context.junit.jupiter.SpringJUnitConfig;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.verify;

/** A mock takes the place of the bean and of its proxy. The name of its task is known. */
@SpringJUnitConfig({ DelayedContexts.VirtualTime.class, MockitoBeanTests.Payments.class,
		MockitoBeanTests.Orders.class })
@ImportAutoConfiguration({ TaskExecutionAutoConfiguration.class, TimingWheelAutoConfiguration.class })
class MockitoBeanTests {

	@MockitoBean
	private Orders orders;

	@Test
	void theNameOfATaskIsKnownAndNoMockRunsByItself(@Autowired Payments payments,
			@Autowired DelayedTaskOperations tasks, @Autowired ManualTimeSource time) {
		payments.pay(5);
		assertThat(tasks.find(TaskId.of("report", "recurring"))).isEmpty();
		time.advance(Duration.ofHours(5));
		verify(this.orders, never()).report();
	}

	static class Payments {

		@CancelDelayed(name = "close-order", key = "#id")
		public void pay(long id) {
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

}

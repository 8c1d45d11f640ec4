package io.timingwheel.test.docs;

import java.time.Duration;

import io.timingwheel.spring.autoconfigure.TimingWheelAutoConfiguration;
import io.timingwheel.test.VirtualTime;
import io.timingwheel.test.VirtualTimeAutoConfiguration;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;

class ContextRunnerTests {

	// tag::runner[]
	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(
				AutoConfigurations.of(TimingWheelAutoConfiguration.class, VirtualTimeAutoConfiguration.class))
		.withUserConfiguration(OrderBook.class, OrderService.class, PaymentDeadline.class);

	// end::runner[]

	@Test
	void anUnpaidOrderIsClosed() {
		this.runner.run((context) -> {
			context.getBean(OrderService.class).create(42);
			context.getBean(VirtualTime.class).advance(Duration.ofMinutes(30));
			assertThat(context.getBean(OrderBook.class).status(42)).isEqualTo("closed");
		});
	}

}

package io.timingwheel.test.docs;

import java.time.Duration;

import io.timingwheel.test.AutoConfigureVirtualTime;
import io.timingwheel.test.VirtualTime;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;

import static org.assertj.core.api.Assertions.assertThat;

// tag::test[]
@SpringBootTest
@AutoConfigureVirtualTime
class OrderServiceTests {

	@Autowired
	VirtualTime time;

	@Autowired
	OrderService service;

	@Autowired
	OrderBook orders;

	@Test
	void anUnpaidOrderIsClosed() {
		this.service.create(42);
		assertThat(this.time).hasPending("close-order", 42).dueIn(Duration.ofMinutes(30));
		this.time.advance(Duration.ofMinutes(30)); // runs the body on this thread
		assertThat(this.orders.status(42)).isEqualTo("closed");
	}

	@Test
	void aPaidOrderIsNot() {
		this.service.create(42);
		this.service.pay(42);
		assertThat(this.time).hasNoPending("close-order", 42);
		assertThat(this.orders.status(42)).isEqualTo("paid");
	}

}
// end::test[]

package io.timingwheel.test.docs;

import java.time.Duration;

import io.timingwheel.test.AutoConfigureVirtualTime;
import io.timingwheel.test.VirtualTime;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;

import static org.assertj.core.api.Assertions.assertThat;

// tag::first[]
@SpringBootTest
@AutoConfigureVirtualTime
class FirstTests {

	@Autowired
	VirtualTime time;

	@Autowired
	Orders orders;

	@Test
	void anUnpaidOrderIsClosed() {
		this.orders.create(42);
		assertThat(this.time).hasPending("close-order", 42).dueIn(Duration.ofMinutes(30));
		this.time.advance(Duration.ofMinutes(30));
		assertThat(this.orders.status(42)).isEqualTo("closed");
	}

	@Test
	void aPaidOrderIsNot() {
		this.orders.create(42);
		this.orders.pay(42);
		assertThat(this.time).hasNoPending("close-order", 42);
	}

}
// end::first[]

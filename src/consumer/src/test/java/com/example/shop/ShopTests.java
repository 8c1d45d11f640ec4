package com.example.shop;

import java.time.Duration;

import io.timingwheel.test.AutoConfigureVirtualTime;
import io.timingwheel.test.VirtualTime;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;

import static org.assertj.core.api.Assertions.assertThat;

@SpringBootTest({ "timingwheel.store.type=jdbc", "spring.datasource.url=jdbc:h2:mem:shop" })
@AutoConfigureVirtualTime
class ShopTests {

	@Autowired
	private VirtualTime time;

	@Autowired
	private Orders orders;

	@Test
	void anUnpaidOrderAndAnAccountAreClosed() {
		this.orders.closeIfUnpaid(1);
		this.orders.closeIfUnpaid(2);
		this.orders.pay(2);
		this.orders.closeAccount("ada");
		this.time.advance(Duration.ofHours(1));
		assertThat(this.orders.closed()).containsExactly("order 1", "account ada");
	}

}

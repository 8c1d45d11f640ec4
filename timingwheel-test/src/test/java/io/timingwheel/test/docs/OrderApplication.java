package io.timingwheel.test.docs;

import java.time.Clock;

import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;

@SpringBootConfiguration
@EnableAutoConfiguration
@Import({ OrderBook.class, OrderService.class, PaymentDeadline.class })
class OrderApplication {

	@Bean
	Clock clock() {
		return Clock.systemDefaultZone();
	}

}

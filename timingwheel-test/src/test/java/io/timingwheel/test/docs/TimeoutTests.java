package io.timingwheel.test.docs;

import java.time.Duration;

import io.timingwheel.spring.annotation.MethodTimeoutException;
import io.timingwheel.spring.annotation.Timeout;
import io.timingwheel.test.AutoConfigureVirtualTime;
import io.timingwheel.test.VirtualTime;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Import;
import org.springframework.test.context.bean.override.mockito.MockitoBean;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.BDDMockito.given;

@SpringBootTest
@AutoConfigureVirtualTime
@Import(TimeoutTests.Quotes.class)
class TimeoutTests {

	@Autowired
	VirtualTime time;

	// tag::timeout[]
	@MockitoBean
	PriceService prices;

	@Autowired
	Quotes quotes;

	@Test
	void aQuoteDoesNotWaitForThePriceForEver() {
		given(this.prices.price("tea")).willAnswer((call) -> {
			this.time.advance(Duration.ofSeconds(2));
			return 3;
		});
		assertThatExceptionOfType(MethodTimeoutException.class).isThrownBy(() -> this.quotes.quote("tea"));
	}
	// end::timeout[]

	interface PriceService {

		int price(String item);

	}

	static class Quotes {

		private final PriceService prices;

		Quotes(PriceService prices) {
			this.prices = prices;
		}

		@Timeout("800ms")
		String quote(String item) {
			return item + " costs " + this.prices.price(item);
		}

	}

}

package io.timingwheel.test.docs;

// tag::deadline[]
import io.timingwheel.spring.annotation.Delayed;

import org.springframework.stereotype.Component;

@Component
class PaymentDeadline {

	private final OrderBook orders;

	PaymentDeadline(OrderBook orders) {
		this.orders = orders;
	}

	@Delayed(delay = "30m", name = "close-order", key = "#orderId")
	public void closeIfUnpaid(long orderId) {
		this.orders.closeIfUnpaid(orderId);
	}

}
// end::deadline[]

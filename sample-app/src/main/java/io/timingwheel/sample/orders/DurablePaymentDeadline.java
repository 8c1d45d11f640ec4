package io.timingwheel.sample.orders;

import io.timingwheel.spring.annotation.Delayed;

import org.springframework.context.annotation.Profile;
import org.springframework.stereotype.Component;

/**
 * Stores the tasks. An application that was killed and started again closes the order at
 * its time.
 */
@Component
@Profile("stored")
class DurablePaymentDeadline implements PaymentDeadline {

	private final OrderRepository orders;

	DurablePaymentDeadline(OrderRepository orders) {
		this.orders = orders;
	}

	@Override
	@Delayed(delay = "${orders.payment-window:30m}", name = "close-order", key = "#orderId", durable = true)
	public void closeIfUnpaid(long orderId) {
		this.orders.update(orderId, Order::closeIfUnpaid);
	}

}

package io.timingwheel.sample.orders;

import io.timingwheel.spring.annotation.Delayed;

import org.springframework.context.annotation.Profile;
import org.springframework.stereotype.Component;

/**
 * Keeps the tasks in memory, as the orders are in memory. Both are gone when the process
 * ends.
 */
@Component
@Profile("!stored")
class InMemoryPaymentDeadline implements PaymentDeadline {

	private final OrderRepository orders;

	InMemoryPaymentDeadline(OrderRepository orders) {
		this.orders = orders;
	}

	@Override
	@Delayed(delay = "${orders.payment-window:30m}", name = "close-order", key = "#orderId")
	public void closeIfUnpaid(long orderId) {
		this.orders.update(orderId, Order::closeIfUnpaid);
	}

}

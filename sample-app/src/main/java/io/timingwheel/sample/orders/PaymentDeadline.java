package io.timingwheel.sample.orders;

import io.timingwheel.spring.annotation.Delayed;

import org.springframework.stereotype.Component;

/**
 * Closes an order when its payment window has passed.
 * <p>
 * A bean of its own, because {@code @Delayed} acts in a proxy: called by
 * {@link OrderService} the method goes through it, while a method of {@code OrderService}
 * called by {@code OrderService} itself would not, and would close the order on the spot.
 */
@Component
class PaymentDeadline {

	private final OrderRepository orders;

	PaymentDeadline(OrderRepository orders) {
		this.orders = orders;
	}

	@Delayed(delay = "${orders.payment-window:30m}", name = "close-order", key = "#orderId")
	public void closeIfUnpaid(long orderId) {
		this.orders.update(orderId, Order::closeIfUnpaid);
	}

}

package io.timingwheel.test.docs;

import io.timingwheel.spring.annotation.CancelDelayed;

import org.springframework.stereotype.Service;

@Service
class OrderService {

	private final OrderBook orders;

	private final PaymentDeadline deadline;

	OrderService(OrderBook orders, PaymentDeadline deadline) {
		this.orders = orders;
		this.deadline = deadline;
	}

	// tag::service[]
	public void create(long orderId) {
		this.orders.add(orderId);
		// Returns at once. The body runs 30 minutes later.
		this.deadline.closeIfUnpaid(orderId);
	}

	// When this method has returned, the pending call is cancelled.
	@CancelDelayed(name = "close-order", key = "#orderId")
	public void pay(long orderId) {
		this.orders.pay(orderId);
	}
	// end::service[]

}

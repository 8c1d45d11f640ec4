package io.timingwheel.sample.orders;

import java.util.List;

import io.timingwheel.spring.annotation.CancelDelayed;

import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/**
 * Takes orders and payments. With a database, an order and its closing task are stored in
 * one transaction, and so are a payment and the cancellation of the task. Without a
 * database there are no transactions.
 */
@Service
class OrderService {

	private final OrderRepository orders;

	private final PaymentDeadline deadline;

	private final OrderProperties properties;

	OrderService(OrderRepository orders, PaymentDeadline deadline, OrderProperties properties) {
		this.orders = orders;
		this.deadline = deadline;
		this.properties = properties;
	}

	/**
	 * Places an order, which closes at the end of the payment window unless it is paid.
	 * @param item what is ordered
	 * @return the order
	 */
	@Transactional
	public Order create(String item) {
		return this.orders.add((orderId) -> {
			Order order = Order.placed(orderId, item, this.properties.paymentWindow());
			// Within the add, so that no order stays if the task is refused.
			this.deadline.closeIfUnpaid(orderId);
			return order;
		});
	}

	/**
	 * Pays an order and cancels its closing.
	 * @param orderId the order
	 * @return the paid order
	 * @throws OrderNotFoundException if there is no such order
	 * @throws OrderClosedException if it has been closed
	 */
	@Transactional
	@CancelDelayed(name = "close-order", key = "#orderId")
	public Order pay(long orderId) {
		return this.orders.update(orderId, Order::pay).orElseThrow(() -> new OrderNotFoundException(orderId));
	}

	public Order get(long orderId) {
		return this.orders.find(orderId).orElseThrow(() -> new OrderNotFoundException(orderId));
	}

	public List<Order> newest(int limit) {
		return this.orders.newest(limit);
	}

	public int count() {
		return this.orders.count();
	}

}

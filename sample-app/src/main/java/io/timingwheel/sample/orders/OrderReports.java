package io.timingwheel.sample.orders;

import java.time.Instant;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedDeque;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.stereotype.Component;

/** The latest reports of this node, in memory. */
@Component
class OrderReports {

	private static final Logger logger = LoggerFactory.getLogger(OrderReports.class);

	private static final int KEPT = 10;

	private static final int EXAMINED = 1000;

	private final ConcurrentLinkedDeque<OrderReport> newestFirst = new ConcurrentLinkedDeque<>();

	private final OrderRepository orders;

	OrderReports(OrderRepository orders) {
		this.orders = orders;
	}

	void create() {
		List<Order> newest = this.orders.newest(EXAMINED);
		OrderReport report = new OrderReport(Instant.now(), this.orders.count(), count(newest, Order.Status.PAID),
				count(newest, Order.Status.CLOSED));
		this.newestFirst.addFirst(report);
		while (this.newestFirst.size() > KEPT) {
			this.newestFirst.pollLast();
		}
		logger.info("{}", report);
	}

	private static long count(List<Order> orders, Order.Status status) {
		return orders.stream().filter((order) -> order.status() == status).count();
	}

	List<OrderReport> newestFirst() {
		return List.copyOf(this.newestFirst);
	}

}

package io.timingwheel.test.docs;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import org.springframework.stereotype.Component;

/** What an application may keep in a table. */
@Component
class OrderBook {

	private final Map<Long, String> statuses = new ConcurrentHashMap<>();

	void add(long orderId) {
		this.statuses.put(orderId, "open");
	}

	void pay(long orderId) {
		this.statuses.put(orderId, "paid");
	}

	void closeIfUnpaid(long orderId) {
		this.statuses.replace(orderId, "open", "closed");
	}

	String status(long orderId) {
		return this.statuses.getOrDefault(orderId, "unknown");
	}

}

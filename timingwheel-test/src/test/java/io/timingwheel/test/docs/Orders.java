package io.timingwheel.test.docs;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.timingwheel.spring.annotation.CancelDelayed;
import io.timingwheel.spring.annotation.Delayed;

import org.springframework.stereotype.Service;

/**
 * Orders that are closed unless they are paid in time.
 */
@Service
class Orders {

	private final Map<Long, String> statuses = new ConcurrentHashMap<>();

	private final PaymentWindow window;

	Orders(PaymentWindow window) {
		this.window = window;
	}

	void create(long orderId) {
		this.statuses.put(orderId, "open");
		this.window.closeIfUnpaid(orderId, this.statuses);
	}

	void pay(long orderId) {
		this.window.paid(orderId);
		this.statuses.put(orderId, "paid");
	}

	String status(long orderId) {
		return this.statuses.getOrDefault(orderId, "unknown");
	}

	@Service
	static class PaymentWindow {

		@Delayed(delay = "30m", name = "close-order", key = "#orderId")
		void closeIfUnpaid(long orderId, Map<Long, String> statuses) {
			statuses.put(orderId, "closed");
		}

		@CancelDelayed(name = "close-order", key = "#orderId")
		void paid(long orderId) {
		}

	}

}

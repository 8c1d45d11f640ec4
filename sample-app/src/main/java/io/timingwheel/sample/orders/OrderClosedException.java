package io.timingwheel.sample.orders;

class OrderClosedException extends RuntimeException {

	OrderClosedException(long orderId) {
		super("Order " + orderId + " is closed: it was not paid in time");
	}

}

package io.timingwheel.sample.orders;

class OrderNotFoundException extends RuntimeException {

	OrderNotFoundException(long orderId) {
		super("There is no order " + orderId);
	}

}

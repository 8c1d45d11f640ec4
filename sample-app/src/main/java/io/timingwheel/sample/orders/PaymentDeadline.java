package io.timingwheel.sample.orders;

/**
 * Closes an order when its payment window has passed.
 * <p>
 * This is a bean of its own, because {@code @Delayed} acts in a proxy. A call from
 * {@link OrderService} goes through the proxy. A call of {@code OrderService} to one of
 * its own methods would not, and would close the order at once.
 */
interface PaymentDeadline {

	void closeIfUnpaid(long orderId);

}

package io.timingwheel.sample.orders;

/**
 * Closes an order when its payment window has passed.
 * <p>
 * A bean of its own, because {@code @Delayed} acts in a proxy: called by
 * {@link OrderService} the method goes through it, while a method of {@code OrderService}
 * called by {@code OrderService} itself would not, and would close the order on the spot.
 */
interface PaymentDeadline {

	void closeIfUnpaid(long orderId);

}

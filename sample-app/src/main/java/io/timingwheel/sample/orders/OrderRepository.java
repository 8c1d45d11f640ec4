package io.timingwheel.sample.orders;

import java.util.List;
import java.util.Optional;
import java.util.function.LongFunction;
import java.util.function.UnaryOperator;

/**
 * The orders. Each method is atomic. If a payment and a closing meet, exactly one of them
 * sees the pending order.
 */
interface OrderRepository {

	/**
	 * Adds an order.
	 * @param factory makes the order with the given id; if it throws, nothing is added
	 * @return the order
	 */
	Order add(LongFunction<Order> factory);

	/**
	 * Changes an order.
	 * @param id its id
	 * @param change makes the new order of the old one
	 * @return the new order, empty if there is none with this id
	 */
	Optional<Order> update(long id, UnaryOperator<Order> change);

	Optional<Order> find(long id);

	List<Order> newest(int limit);

	int count();

}

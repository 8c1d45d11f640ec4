package io.timingwheel.sample.orders;

import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.LongFunction;
import java.util.function.UnaryOperator;

import org.springframework.stereotype.Repository;

/**
 * The newest orders, in memory. Each method is atomic, so that of a payment and a closing
 * that meet exactly one sees the order pending.
 */
@Repository
class OrderRepository {

	static final int CAPACITY = 1_000;

	private final NavigableMap<Long, Order> orders = new TreeMap<>();

	private long lastId;

	/**
	 * Adds an order and forgets the oldest one beyond the capacity.
	 * @param factory makes the order with the given id; if it throws, nothing is added
	 * @return the order
	 */
	synchronized Order add(LongFunction<Order> factory) {
		long id = ++this.lastId;
		Order order = factory.apply(id);
		this.orders.put(id, order);
		if (this.orders.size() > CAPACITY) {
			this.orders.pollFirstEntry();
		}
		return order;
	}

	synchronized Optional<Order> update(long id, UnaryOperator<Order> change) {
		return Optional.ofNullable(this.orders.computeIfPresent(id, (key, order) -> change.apply(order)));
	}

	synchronized Optional<Order> find(long id) {
		return Optional.ofNullable(this.orders.get(id));
	}

	synchronized List<Order> newest(int limit) {
		return this.orders.descendingMap().values().stream().limit(limit).toList();
	}

	synchronized int count() {
		return this.orders.size();
	}

}

package io.timingwheel.sample.orders;

import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.LongFunction;
import java.util.function.UnaryOperator;

import org.springframework.context.annotation.Profile;
import org.springframework.stereotype.Repository;

/** The newest orders, in memory. */
@Repository
@Profile("!stored")
class InMemoryOrderRepository implements OrderRepository {

	static final int CAPACITY = 1_000;

	private final NavigableMap<Long, Order> orders = new TreeMap<>();

	private long lastId;

	/** Forgets the oldest order beyond the capacity. */
	@Override
	public synchronized Order add(LongFunction<Order> factory) {
		long id = ++this.lastId;
		Order order = factory.apply(id);
		this.orders.put(id, order);
		if (this.orders.size() > CAPACITY) {
			this.orders.pollFirstEntry();
		}
		return order;
	}

	@Override
	public synchronized Optional<Order> update(long id, UnaryOperator<Order> change) {
		return Optional.ofNullable(this.orders.computeIfPresent(id, (key, order) -> change.apply(order)));
	}

	@Override
	public synchronized Optional<Order> find(long id) {
		return Optional.ofNullable(this.orders.get(id));
	}

	@Override
	public synchronized List<Order> newest(int limit) {
		return this.orders.descendingMap().values().stream().limit(limit).toList();
	}

	@Override
	public synchronized int count() {
		return this.orders.size();
	}

}

package io.timingwheel.sample.orders;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.LongFunction;
import java.util.function.UnaryOperator;

import org.jspecify.annotations.Nullable;

import org.springframework.context.annotation.Profile;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;
import org.springframework.transaction.annotation.Transactional;

/**
 * The orders, in the database that also keeps the durable tasks: an order and its closing
 * are stored in one transaction.
 */
@Repository
@Profile("stored")
@Transactional
class JdbcOrderRepository implements OrderRepository {

	private final JdbcClient jdbc;

	JdbcOrderRepository(JdbcClient jdbc) {
		this.jdbc = jdbc;
	}

	@Override
	public Order add(LongFunction<Order> factory) {
		long id = this.jdbc.sql("select next value for order_id").query(Long.class).single();
		Order order = factory.apply(id);
		this.jdbc.sql("insert into orders (id, item, status, created_at, closes_at) values (?, ?, ?, ?, ?)")
			.param(order.id())
			.param(order.item())
			.param(order.status().name())
			.param(Timestamp.from(order.createdAt()))
			.param(Timestamp.from(order.closesAt()))
			.update();
		return order;
	}

	@Override
	public Optional<Order> update(long id, UnaryOperator<Order> change) {
		Optional<Order> changed = this.jdbc.sql("select * from orders where id = ? for update")
			.param(id)
			.query(JdbcOrderRepository::read)
			.optional()
			.map(change);
		changed.ifPresent((order) -> this.jdbc.sql("update orders set status = ?, settled_at = ? where id = ?")
			.param(order.status().name())
			.param((order.settledAt() != null) ? Timestamp.from(order.settledAt()) : null)
			.param(id)
			.update());
		return changed;
	}

	@Override
	public Optional<Order> find(long id) {
		return this.jdbc.sql("select * from orders where id = ?").param(id).query(JdbcOrderRepository::read).optional();
	}

	@Override
	public List<Order> newest(int limit) {
		return this.jdbc.sql("select * from orders order by id desc limit ?")
			.param(limit)
			.query(JdbcOrderRepository::read)
			.list();
	}

	@Override
	public int count() {
		return this.jdbc.sql("select count(*) from orders").query(Integer.class).single();
	}

	private static Order read(ResultSet row, int number) throws SQLException {
		return new Order(row.getLong("id"), row.getString("item"), Order.Status.valueOf(row.getString("status")),
				row.getTimestamp("created_at").toInstant(), row.getTimestamp("closes_at").toInstant(),
				instant(row.getTimestamp("settled_at")));
	}

	private static @Nullable Instant instant(@Nullable Timestamp timestamp) {
		return (timestamp != null) ? timestamp.toInstant() : null;
	}

}

package io.timingwheel.spring.durable.jdbc;

import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.JdbcOperations;

/**
 * H2, whose own clock stands still within a transaction.
 */
final class H2Dialect extends BinaryTextDialect {

	private static final String NOW = "select cast(floor(extract(epoch from current_timestamp) * 1000) as bigint)";

	private final @Nullable ShortTransactions server;

	/**
	 * H2 within this JVM, whose clock it has.
	 */
	H2Dialect() {
		this.server = null;
	}

	/**
	 * H2 elsewhere, whose clock is read outside of the current transaction.
	 */
	H2Dialect(ShortTransactions server) {
		this.server = server;
	}

	@Override
	long now(JdbcOperations jdbc) {
		return now();
	}

	@Override
	String nowExpression() {
		return "cast(? as bigint)";
	}

	@Override
	long nowParameter(long offset) {
		return now() + offset;
	}

	private long now() {
		if (this.server == null) {
			return System.currentTimeMillis();
		}
		return this.server.single((fresh) -> Rows.number(fresh, NOW));
	}

	@Override
	String nameWithoutIndex() {
		return "coalesce(name, x'')";
	}

	@Override
	String unlessPending() {
		return "";
	}

}

package io.timingwheel.spring.durable.jdbc;

import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.JdbcOperations;

/**
 * The dialect of H2. The time of H2 does not change within a transaction, and is
 * therefore read outside of the current transaction.
 */
final class H2Dialect extends PortableDialect {

	private static final String NOW = "select cast(floor(extract(epoch from current_timestamp) * 1000) as bigint)";

	private final @Nullable ShortTransactions server;

	/**
	 * Creates the dialect.
	 * @param server reads the clock of an H2 server; {@code null} if H2 runs in this JVM
	 * and uses the clock of the JVM
	 */
	H2Dialect(@Nullable ShortTransactions server) {
		this.server = server;
	}

	@Override
	long now(JdbcOperations jdbc) {
		return now();
	}

	@Override
	String nowExpression(StoreTime time) {
		return "cast(? as bigint)";
	}

	@Override
	long nowParameter(StoreTime time) {
		return time.isGiven() ? time.parameter() : now() + time.parameter();
	}

	/**
	 * H2 parses a statement each time. The parsing of a union of searches takes five
	 * times as long as the searches themselves.
	 */
	@Override
	boolean joinsNames() {
		return true;
	}

	@Override
	boolean countsAll() {
		return true;
	}

	private long now() {
		if (this.server == null) {
			return System.currentTimeMillis();
		}
		return this.server.single((fresh) -> number(fresh, NOW));
	}

}

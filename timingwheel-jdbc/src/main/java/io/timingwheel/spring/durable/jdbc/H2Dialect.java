package io.timingwheel.spring.durable.jdbc;

import org.springframework.jdbc.core.JdbcOperations;

/**
 * The dialect of H2. The usual functions for the time of H2 do not change within a
 * transaction. The time of a server is therefore the start of the statement that asks for
 * the time, as H2 shows it in the list of its sessions. The statement runs on the
 * connection of the caller: a second connection may not be free.
 */
final class H2Dialect extends PortableDialect {

	/**
	 * The names are in capitals, as H2 has them also if it does not change the names in a
	 * statement.
	 */
	private static final String NOW = "select cast(floor(extract(epoch from EXECUTING_STATEMENT_START) * 1000) as bigint)"
			+ " from INFORMATION_SCHEMA.SESSIONS where SESSION_ID = session_id()";

	private final boolean server;

	/**
	 * Creates the dialect.
	 * @param server whether the clock is that of an H2 server; {@code false} if H2 runs
	 * in this JVM and uses the clock of the JVM
	 */
	H2Dialect(boolean server) {
		this.server = server;
	}

	@Override
	long now(JdbcOperations jdbc) {
		return this.server ? number(jdbc, NOW) : System.currentTimeMillis();
	}

	@Override
	String nowExpression(StoreTime time) {
		return "cast(? as bigint)";
	}

	@Override
	long nowParameter(StoreTime time, JdbcOperations jdbc) {
		return time.now(this, jdbc);
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

}

package io.timingwheel.spring.durable.jdbc;

import java.nio.charset.StandardCharsets;
import java.sql.ResultSet;
import java.sql.SQLException;

import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.JdbcOperations;

/**
 * The parts of {@link PortableTransitions} that differ between H2, MariaDB and MySQL.
 * Names and keys are in binary columns, since comparisons of text depend on the settings
 * of the database.
 */
abstract class PortableDialect extends Dialect {

	@Override
	final Transitions transitions(Database database) {
		return new PortableTransitions(database, this);
	}

	/**
	 * The time within a statement, with one parameter.
	 */
	abstract String nowExpression(StoreTime time);

	/**
	 * The parameter of {@link #nowExpression}.
	 */
	long nowParameter(StoreTime time, JdbcOperations jdbc) {
		return time.parameter();
	}

	/**
	 * Whether the check of a claim joins the names with one search. Otherwise the check
	 * unites one search for each name.
	 */
	boolean joinsNames() {
		return false;
	}

	@Override
	final Object text(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

	@Override
	final @Nullable String text(ResultSet rs, String column) throws SQLException {
		byte[] bytes = rs.getBytes(column);
		return (bytes != null) ? new String(bytes, StandardCharsets.UTF_8) : null;
	}

}

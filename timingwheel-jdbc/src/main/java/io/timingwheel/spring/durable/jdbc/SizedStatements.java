package io.timingwheel.spring.durable.jdbc;

import java.util.concurrent.atomic.AtomicLong;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.PreparedStatementCallback;
import org.springframework.jdbc.core.PreparedStatementSetter;
import org.springframework.jdbc.core.ResultSetExtractor;

/**
 * Runs statements on PostgreSQL. PostgreSQL keeps a plan for a text, and a plan for a
 * small table may scan the whole table. So the text of each statement with parameters
 * changes with the size of the table, by powers of four. Thread-safe.
 */
final class SizedStatements extends JdbcTemplate {

	private static final int PAGE_BYTES = 8192;

	private final AtomicLong tableSize;

	/**
	 * Creates the access to a database.
	 * @param tableSize the size of the table in bytes, as the latest statement saw it
	 */
	SizedStatements(DataSource dataSource, AtomicLong tableSize) {
		super(dataSource);
		this.tableSize = tableSize;
	}

	/**
	 * A subquery that gives the size of the table, once for all rows of a result.
	 */
	static String size(TableName table) {
		return "(select pg_relation_size('%s'))".formatted(table);
	}

	@Override
	public <T extends @Nullable Object> T execute(String sql, PreparedStatementCallback<T> action) {
		return super.execute(sized(sql), action);
	}

	@Override
	public <T extends @Nullable Object> T query(String sql, @Nullable PreparedStatementSetter pss,
			ResultSetExtractor<T> rse) {
		return super.query(sized(sql), pss, rse);
	}

	@Override
	public int update(String sql, @Nullable PreparedStatementSetter pss) {
		return super.update(sized(sql), pss);
	}

	private String sized(String sql) {
		return "/* at most 4^" + power(this.tableSize.get()) + " pages */ " + sql;
	}

	private static int power(long tableSize) {
		return (Long.SIZE - Long.numberOfLeadingZeros(tableSize / PAGE_BYTES) + 1) / 2;
	}

}

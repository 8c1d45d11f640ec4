package io.timingwheel.spring.durable.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;

import javax.sql.DataSource;

import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.StoredCounts;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * The dialect of PostgreSQL. The time is the time of the statement, since the time of the
 * transaction does not change.
 */
final class PostgresDialect extends Dialect {

	private static final String NOW = "floor(extract(epoch from statement_timestamp()) * 1000)::bigint";

	/** In how many pages of the table the rows are counted for an estimate. */
	static final int SAMPLED_PAGES = 800;

	/**
	 * Lets the commit of a statement return before the disk has the statement. A crash of
	 * the server may then undo the statement. Acknowledgements may be undone: the task
	 * then runs again. Leases of tasks that have not begun may be undone: the store then
	 * refuses to begin these tasks. A begin must not be undone: a cancel after the crash
	 * could succeed although the body has run. A renewal must not be undone either: the
	 * lease in the store would then end before the lease that the node trusts.
	 */
	static final String WITHOUT_DISK = "select set_config('synchronous_commit', 'off', true)";

	/** The size of the table in bytes, as the latest claim, look or change saw it. */
	private final AtomicLong tableSize = new AtomicLong();

	private final TextEncoding encoding;

	/**
	 * Creates the dialect.
	 * @param encoding the encoding of the database
	 */
	PostgresDialect(TextEncoding encoding) {
		this.encoding = encoding;
	}

	/**
	 * What a statement adds its parameter to, to get the time.
	 */
	static String clock(StoreTime time) {
		return time.isGiven() ? "0::bigint" : NOW;
	}

	/**
	 * How many milliseconds have passed since the statement began, by the same clock.
	 */
	static String elapsed(StoreTime time) {
		return time.isGiven() ? "0" : "(floor(extract(epoch from clock_timestamp()) * 1000)::bigint - " + NOW + ")";
	}

	@Override
	Transitions transitions(Database database) {
		return new PostgresTransitions(database, this.tableSize);
	}

	@Override
	JdbcTemplate statements(DataSource dataSource) {
		return new SizedStatements(dataSource, this.tableSize);
	}

	@Override
	long now(JdbcOperations jdbc) {
		return number(jdbc, "select " + NOW);
	}

	@Override
	Object text(String text) {
		this.encoding.check(text);
		return text;
	}

	@Override
	boolean canStore(String text) {
		return this.encoding.canStore(text);
	}

	@Override
	@Nullable String text(ResultSet rs, String column) throws SQLException {
		return rs.getString(column);
	}

	@Override
	String error(String text) {
		String escaped = this.encoding.escaped(text.replace('\0', ' '));
		return escaped.substring(0, Math.min(escaped.length(), DelayedTaskStore.MAX_ERROR_LENGTH));
	}

	@Override
	String payload(String json) {
		return this.encoding.escaped(json);
	}

	@Override
	long storedBytes(long bytes) {
		return this.encoding.storedBytes(bytes);
	}

	/**
	 * The end of an id is random. The condition must be that of the index.
	 */
	@Override
	String isSampled() {
		return "right(id, 2) = '00'";
	}

	@Override
	String idleTransactionTimeout() {
		return ", set_config('idle_in_transaction_session_timeout', '2s', true)";
	}

	@Override
	String unlessTaken(String column) {
		return " on conflict do nothing";
	}

	@Override
	void limitLockWait(JdbcOperations jdbc) {
		jdbc.execute("set local lock_timeout = '100ms'");
	}

	/**
	 * Goes from name to name in the index. PostgreSQL reads all rows for a
	 * {@code distinct}.
	 */
	@Override
	String names(TableName table) {
		return """
				with recursive names as (
					(select name from %1$s order by name limit 1)
					union all select (select t.name from %1$s t where t.name > n.name order by t.name limit 1)
						from names n where n.name is not null)
				select name from names where name is not null""".formatted(table);
	}

	/**
	 * One statement, however many names there are: the planning of a search for each name
	 * would take longer than the searches. The time is part of the text, so that
	 * PostgreSQL plans the statement for the present table.
	 */
	@Override
	Map<String, StoredCounts> count(JdbcOperations jdbc, TableName table, List<String> names, long now, int limit) {
		return RowCounts.states(jdbc, this, """
				select n.name, s.status, c.tasks, c.due
				from unnest(?::text[]) as n (name) cross join (values (%s::smallint), (%s), (%s)) as s (status)
				cross join lateral (select count(*) as tasks, count(*) filter (where l.due_at <= %d) as due
					from (select t.due_at from %s t where t.name = n.name and t.status = s.status
						order by t.name, t.status, t.due_at limit %d) l) c
				where c.tasks > 0""".formatted(TaskRow.PENDING, TaskRow.RUNNING, TaskRow.DEAD, now, table, limit), 1,
				(Object) names.stream().filter(this::canStore).toArray(String[]::new));
	}

	/**
	 * Counts in some pages of the table. A table that has grown in the meantime keeps
	 * most of these pages, so that the figures do not jump.
	 */
	@Override
	Map<String, StoredCounts> estimate(JdbcOperations jdbc, TableName table, Set<String> names, long now) {
		long pages = number(jdbc,
				"select pg_relation_size('%s') / current_setting('block_size')::bigint".formatted(table));
		double share = (pages <= SAMPLED_PAGES) ? 1 : (double) SAMPLED_PAGES / pages;
		return RowCounts.states(jdbc, this,
				("select name, status, count(*) as tasks, sum(case when due_at <= %d then 1 else 0 end) as due from %s"
						+ " tablesample system (%s) repeatable (1) group by name, status")
					.formatted(now, table, 100 * share),
				1 / share);
	}

}

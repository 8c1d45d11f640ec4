package io.timingwheel.spring.durable.jdbc;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;

import io.timingwheel.spring.durable.StoredCounts;

import org.springframework.jdbc.core.JdbcOperations;

/**
 * The dialect of MariaDB and MySQL. The time is read in UTC, in which no second comes
 * twice.
 */
final class MySqlDialect extends PortableDialect {

	private static final String NOW = "timestampdiff(microsecond, '1970-01-01', utc_timestamp(6)) div 1000";

	@Override
	long now(JdbcOperations jdbc) {
		return number(jdbc, "select " + NOW);
	}

	@Override
	String nowExpression(StoreTime time) {
		return time.isGiven() ? "(0 + ?)" : "(" + NOW + " + ?)";
	}

	/**
	 * An insert that fails would keep a shared lock on the pending task, and two such
	 * inserts would cause a deadlock.
	 */
	@Override
	String unlessTaken() {
		return " on duplicate key update fence = fence";
	}

	@Override
	boolean locksAbsentRows() {
		return true;
	}

	@Override
	String lockNoWait() {
		return " for update nowait";
	}

	/**
	 * One second is the shortest limit. InnoDB may also wait for a task with another key
	 * if that key comes next in the index.
	 */
	@Override
	void limitLockWait(JdbcOperations jdbc) {
		jdbc.execute("set session innodb_lock_wait_timeout = 1");
	}

	@Override
	void resetLockWait(JdbcOperations jdbc) {
		jdbc.execute("set session innodb_lock_wait_timeout = default");
	}

	/**
	 * InnoDB estimates a range of an index by some pages on the way to its ends.
	 */
	@Override
	Map<String, StoredCounts> estimate(JdbcOperations jdbc, TableName table, Set<String> names, long now) {
		Map<String, StoredCounts> estimates = new HashMap<>();
		for (String name : names) {
			estimates.put(name,
					new StoredCounts(rows(jdbc, table, name, "status = " + TaskRow.PENDING),
							rows(jdbc, table, name, "status = " + TaskRow.PENDING + " and due_at <= " + now),
							rows(jdbc, table, name, "status = " + TaskRow.RUNNING),
							rows(jdbc, table, name, "status = " + TaskRow.DEAD)));
		}
		return estimates;
	}

	private long rows(JdbcOperations jdbc, TableName table, String name, String condition) {
		return jdbc
			.query("explain select due_at from " + table + " where name = ? and " + condition,
					(rs, rowNum) -> rs.getLong("rows"), text(name))
			.stream()
			.mapToLong(Long::longValue)
			.max()
			.orElse(0);
	}

}

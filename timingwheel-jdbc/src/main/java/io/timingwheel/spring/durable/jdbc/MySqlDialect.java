package io.timingwheel.spring.durable.jdbc;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
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

	private static final String COUNT = "select %d as number, %d as status, count(*) as tasks,"
			+ " sum(case when due_at <= %d then 1 else 0 end) as due from (select due_at from %s"
			+ " where name = ? and status = %d order by name, status, due_at limit %d) c";

	private static final int NAMES_PER_STATEMENT = 50;

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
	String unlessTaken(String column) {
		return " on duplicate key update " + column + " = " + column;
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
	 * if that key comes next in the index. The connection keeps its earlier limit in a
	 * variable, since the data source may have set this limit.
	 */
	@Override
	void limitLockWait(JdbcOperations jdbc) {
		jdbc.execute("set @timingwheel_lock_wait = @@session.innodb_lock_wait_timeout,"
				+ " session innodb_lock_wait_timeout = 1");
	}

	@Override
	void resetLockWait(JdbcOperations jdbc) {
		jdbc.execute("set session innodb_lock_wait_timeout = @timingwheel_lock_wait");
	}

	/**
	 * A search for each name and state, since MariaDB cannot join a search with a limit
	 * to the names.
	 */
	@Override
	Map<String, StoredCounts> count(JdbcOperations jdbc, TableName table, List<String> names, long now, int limit) {
		Map<String, StoredCounts> counts = new HashMap<>();
		for (int from = 0; from < names.size(); from += NAMES_PER_STATEMENT) {
			List<String> some = names.subList(from, Math.min(names.size(), from + NAMES_PER_STATEMENT));
			List<String> searches = new ArrayList<>();
			List<Object> parameters = new ArrayList<>();
			for (int i = 0; i < some.size(); i++) {
				for (int status : List.of(TaskRow.PENDING, TaskRow.RUNNING, TaskRow.DEAD)) {
					searches.add(COUNT.formatted(i, status, now, table, status, limit));
					parameters.add(text(some.get(i)));
				}
			}
			jdbc.query(String.join(" union all ", searches), (rs) -> {
				if (rs.getLong("tasks") > 0) {
					counts.merge(some.get(rs.getInt("number")), RowCounts.ofState(rs, 1), StoredCounts::plus);
				}
			}, parameters.toArray());
		}
		return counts;
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
			.query("explain format = traditional select due_at from " + table + " where name = ? and " + condition,
					(rs, rowNum) -> rs.getLong("rows"), text(name))
			.stream()
			.mapToLong(Long::longValue)
			.max()
			.orElse(0);
	}

}

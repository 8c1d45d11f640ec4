package io.timingwheel.spring.durable.jdbc;

import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.JdbcOperations;

/**
 * The rows of tasks that a transaction has locked in order to change them. It does not
 * wait for the rows that another transaction has locked.
 *
 * @param locked the locked rows, by id
 * @param skipped the other rows, by id
 */
record LockedRows(Map<String, TaskRow> locked, Map<String, TaskRow> skipped) {

	/**
	 * Locks rows in the order of their ids, so that two calls do not wait for each other.
	 */
	static LockedRows lock(Database database, JdbcOperations jdbc, Collection<String> ids) {
		TreeSet<String> ordered = new TreeSet<>(ids);
		String rows = database.sql("{task} where id" + Parameters.isOneOf(ordered.size()) + " order by id");
		Map<String, TaskRow> locked = byId(database, jdbc,
				database.dialect().lockFirst(TaskRow.COLUMNS, rows, Parameters.paddedSize(ordered.size())), ordered);
		ordered.removeAll(locked.keySet());
		return new LockedRows(locked, read(database, jdbc, ordered));
	}

	/**
	 * Locks one row.
	 * @return {@code null} if there is no such row, or if another transaction has locked
	 * the row
	 */
	static @Nullable TaskRow lock(Database database, JdbcOperations jdbc, String id) {
		return lock(database, jdbc, List.of(id)).locked().get(id);
	}

	/**
	 * Reads rows without locks.
	 */
	static Map<String, TaskRow> read(Database database, JdbcOperations jdbc, Collection<String> ids) {
		return ids.isEmpty() ? Map.of()
				: byId(database, jdbc,
						database.sql(
								"select " + TaskRow.COLUMNS + " from {task} where id" + Parameters.isOneOf(ids.size())),
						ids);
	}

	private static Map<String, TaskRow> byId(Database database, JdbcOperations jdbc, String sql,
			Collection<String> ids) {
		Map<String, TaskRow> rows = new HashMap<>();
		jdbc.query(sql, (rs) -> {
			TaskRow row = TaskRow.read(rs, database.dialect());
			rows.put(row.id(), row);
		}, Parameters.and(ids));
		return rows;
	}

}

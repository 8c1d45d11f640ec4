package io.timingwheel.spring.durable.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Set;
import java.util.stream.Collectors;

import io.timingwheel.spring.durable.TaskLimits;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.support.DataAccessUtils;
import org.springframework.jdbc.core.JdbcOperations;

/**
 * The rows of the names that are paused, or whose starts are limited. A name without such
 * a row is neither.
 */
final class LimitRows {

	private final Database database;

	private final Dialect dialect;

	private final String table;

	LimitRows(Database database) {
		this.database = database;
		this.dialect = database.dialect();
		this.table = database.table().limitTable();
	}

	/**
	 * Pauses or resumes a name.
	 */
	void setPaused(String name, boolean paused) {
		TaskLimits.checkName(name);
		if (paused) {
			create(name);
		}
		this.database.store()
			.single((jdbc) -> jdbc.update("update " + this.table + " set paused = ? where name = ?", paused ? 1 : 0,
					this.dialect.text(name)));
	}

	Set<String> pausedNames() {
		return this.database.store().single(this::pausedNames);
	}

	private Set<String> pausedNames(JdbcOperations jdbc) {
		return jdbc.query("select name from " + this.table + " where paused = 1", this::name)
			.stream()
			.collect(Collectors.toUnmodifiableSet());
	}

	private String name(ResultSet rs, int rowNum) throws SQLException {
		return TaskRow.name(rs, this.dialect);
	}

	/**
	 * Creates the row of a name, unless the row exists. If another node creates the row
	 * at the same moment, the transaction runs again.
	 */
	void create(String name) {
		Object text = this.dialect.text(name);
		this.database.store().transaction((jdbc, status) -> {
			boolean missing = jdbc.queryForList("select paused from " + this.table + " where name = ?", text).isEmpty();
			return missing && jdbc.update("insert into " + this.table + " (name) values (?)", text) > 0;
		});
	}

	/**
	 * Locks the row of a name. If the node stops before its transaction ends, the
	 * database ends the transaction, if it can.
	 * @return the value of {@link #setNextStart}, {@code null} if the row is locked or
	 * does not exist
	 */
	@Nullable Long lock(JdbcOperations jdbc, Object name) {
		String timeout = this.database.time().isGiven() ? "" : this.dialect.idleTransactionTimeout();
		return DataAccessUtils.singleResult(jdbc.query(
				"select next_start" + timeout + " from " + this.table + " where name = ? for update skip locked",
				(rs, rowNum) -> rs.getLong("next_start"), name));
	}

	/**
	 * Stores when the next start of a name would be due if all starts were spread evenly.
	 * @param micros microseconds since the epoch
	 */
	void setNextStart(JdbcOperations jdbc, Object name, long micros) {
		jdbc.update("update " + this.table + " set next_start = ? where name = ?", micros, name);
	}

	/**
	 * Deletes all rows. Only tests do this.
	 */
	void deleteAll() {
		this.database.store().single((jdbc) -> jdbc.update("delete from " + this.table));
	}

}

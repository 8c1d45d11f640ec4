package io.timingwheel.spring.durable.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

import io.timingwheel.spring.durable.TaskLimits;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.DuplicateKeyException;
import org.springframework.dao.support.DataAccessUtils;
import org.springframework.jdbc.core.JdbcOperations;

/**
 * The rows of the names that are paused, whose starts are limited, or whose declared
 * schedule was cancelled. A name without such a row is none of these.
 */
final class LimitRows {

	private static final Log logger = LogFactory.getLog(LimitRows.class);

	private final Database database;

	private final Dialect dialect;

	private final String table;

	/** The names that were paused when they were read last. */
	private volatile Set<String> known = Set.of();

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

	/**
	 * The paused names. A name that is resumed keeps its row. So if a name was paused
	 * before and has no row, the table has lost the row, and the name is paused again.
	 */
	Set<String> pausedNames() {
		Set<String> paused = new HashSet<>(this.database.store().single(this::pausedNames));
		List<String> lost = this.known.stream()
			.filter((name) -> !paused.contains(name) && !this.database.store().single((jdbc) -> exists(name, jdbc)))
			.toList();
		if (!lost.isEmpty()) {
			lost.forEach((name) -> setPaused(name, true));
			paused.addAll(lost);
			logger.warn("The table " + this.table + " had lost the pauses of " + lost + ", and they are stored again");
		}
		this.known = Set.copyOf(paused);
		return this.known;
	}

	private boolean exists(String name, JdbcOperations jdbc) {
		return !jdbc.queryForList("select paused from " + this.table + " where name = ?", this.dialect.text(name))
			.isEmpty();
	}

	private Set<String> pausedNames(JdbcOperations jdbc) {
		return jdbc.query("select name from " + this.table + " where paused = 1", this::name)
			.stream()
			.collect(Collectors.toUnmodifiableSet());
	}

	/**
	 * Whether the declared schedule of a name was cancelled since it was last stored.
	 */
	boolean isCancelled(String name, JdbcOperations jdbc) {
		return !jdbc
			.queryForList("select name from " + this.table + " where name = ? and cancelled = 1",
					this.dialect.text(name))
			.isEmpty();
	}

	/**
	 * Sets or deletes the mark of a declared schedule that was cancelled, in the
	 * transaction of the change of the schedule. Locks no row that does not exist.
	 */
	void setCancelled(String name, boolean cancelled, JdbcOperations jdbc) {
		if (isCancelled(name, jdbc) == cancelled) {
			return;
		}
		Object text = this.dialect.text(name);
		if (cancelled && !exists(name, jdbc)) {
			insert(text, jdbc);
		}
		jdbc.update("update " + this.table + " set cancelled = ? where name = ?", cancelled ? 1 : 0, text);
	}

	private void insert(Object name, JdbcOperations jdbc) {
		try {
			jdbc.update("insert into " + this.table + " (name) values (?)" + this.dialect.unlessTaken("name"), name);
		}
		catch (DuplicateKeyException ex) {
			// Another transaction was faster.
		}
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
			return !exists(name, jdbc) && jdbc.update("insert into " + this.table + " (name) values (?)", text) > 0;
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
	 * Resumes all names, and forgets their starts. Keeps the rows, which tell other nodes
	 * that nothing was lost. Only tests do this.
	 */
	void reset() {
		this.database.store()
			.single((jdbc) -> jdbc.update("update " + this.table + " set paused = 0, next_start = 0, cancelled = 0"));
	}

}

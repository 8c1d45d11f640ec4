package io.timingwheel.spring.durable.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;

import io.timingwheel.spring.durable.support.LimitedClaims.Look;

/**
 * The times of the first tasks of a limited name, {@link Long#MAX_VALUE} for none.
 *
 * @param now the time by the database's clock
 * @param dueAt of the tasks that are due, or whose leases have ended
 * @param suspectAt of the suspects
 * @param laterAt of the tasks to claim later
 */
record FirstTimes(long now, long dueAt, long suspectAt, long laterAt) implements Look {

	/**
	 * Reads the columns {@code due_at}, {@code suspect_at} and {@code later_at}.
	 */
	static FirstTimes read(ResultSet rs, long now) throws SQLException {
		return new FirstTimes(now, time(rs, "due_at"), time(rs, "suspect_at"), time(rs, "later_at"));
	}

	private static long time(ResultSet rs, String column) throws SQLException {
		Long time = rs.getObject(column, Long.class);
		return (time != null) ? time : Long.MAX_VALUE;
	}

}

package io.timingwheel.spring.durable.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.timingwheel.spring.durable.LeasedTask;
import io.timingwheel.spring.durable.StoredSchedule;
import io.timingwheel.spring.durable.jdbc.CountedClaim.Places;
import org.jspecify.annotations.Nullable;

/**
 * What a {@link ClaimStatement} returns.
 *
 * @param tasks the claimed tasks, in the order of the times by which it found them
 * @param found the times of the tasks that it found, by name, in order
 * @param now the time by which the claim searched
 * @param endedAt the time when the claim had changed the tasks
 * @param places of a limited name, {@code null} for other names
 */
record ClaimReply(List<ClaimedRow> tasks, Map<String, List<Long>> found, long now, long endedAt, long nextAt,
		long tableSize, @Nullable Places places) {

	static ClaimReply read(ResultSet rs, boolean hasPlaces) throws SQLException {
		List<ClaimedRow> tasks = new ArrayList<>();
		Map<String, List<Long>> found = new HashMap<>();
		long now = 0;
		long endedAt = 0;
		long nextAt = Long.MAX_VALUE;
		long tableSize = 0;
		Places places = null;
		boolean first = true;
		while (rs.next()) {
			if (first) {
				first = false;
				now = rs.getLong(ClaimColumn.NOW);
				endedAt = rs.getLong(ClaimColumn.ENDED_AT);
				Long later = rs.getBoolean(ClaimColumn.HAS_LEFT) ? Long.valueOf(now)
						: rs.getObject(ClaimColumn.LATER_AT, Long.class);
				nextAt = (later != null) ? later : Long.MAX_VALUE;
				tableSize = rs.getLong(ClaimColumn.TABLE_SIZE);
				places = hasPlaces ? new Places(rs.getBoolean(ClaimColumn.LOCKED), rs.getBoolean(ClaimColumn.MISSING),
						rs.getBoolean(ClaimColumn.HAS_LOST), rs.getInt(ClaimColumn.FREE)) : null;
			}
			String id = rs.getString(ClaimColumn.ID);
			if (id == null) {
				continue;
			}
			String name = rs.getString(ClaimColumn.NAME);
			long foundAt = rs.getLong(ClaimColumn.FOUND_AT);
			found.computeIfAbsent(name, (key) -> new ArrayList<>()).add(foundAt);
			if (rs.getBoolean(ClaimColumn.TAKEN)) {
				tasks.add(new ClaimedRow(task(id, name, rs), foundAt, rs.getLong(ClaimColumn.LEASE_END)));
			}
			else {
				nextAt = Math.min(nextAt, foundAt);
			}
		}
		found.values().forEach(Collections::sort);
		tasks.sort(Comparator.comparingLong(ClaimedRow::foundAt));
		return new ClaimReply(tasks, found, now, endedAt, nextAt, tableSize, places);
	}

	/**
	 * Whether the claim has found a task and not taken it: another transaction has
	 * changed the task meanwhile, or the task has just become a suspect. The claim then
	 * does not know how far it has come.
	 */
	boolean hasLeft() {
		return this.nextAt <= this.now;
	}

	private static LeasedTask task(String id, String name, ResultSet rs) throws SQLException {
		boolean suspect = rs.getInt(ClaimColumn.SUSPECT) != 0;
		String schedule = rs.getString(ClaimColumn.SCHEDULE);
		return new LeasedTask(id, rs.getLong(ClaimColumn.FENCE), name, rs.getString(ClaimColumn.TASK_KEY),
				rs.getString(ClaimColumn.PAYLOAD), rs.getString(ClaimColumn.TRACEPARENT),
				rs.getLong(ClaimColumn.DUE_AT), !suspect && rs.getInt(ClaimColumn.STATUS) == TaskRow.RUNNING,
				rs.getInt(ClaimColumn.ATTEMPT), rs.getInt(ClaimColumn.DELIVERIES),
				rs.getInt(ClaimColumn.LOST_DELIVERIES), suspect,
				(schedule != null) ? new StoredSchedule(schedule, rs.getLong(ClaimColumn.SCHEDULED_AT)) : null);
	}

	/**
	 * The columns of the result. A position takes less time than a name, which the driver
	 * looks up for each value.
	 */
	private static final class ClaimColumn {

		static final int ID = 1;

		static final int FOUND_AT = 2;

		static final int NAME = 3;

		static final int TAKEN = 4;

		static final int SUSPECT = 5;

		static final int FENCE = 6;

		static final int TASK_KEY = 7;

		static final int PAYLOAD = 8;

		static final int TRACEPARENT = 9;

		static final int DUE_AT = 10;

		static final int STATUS = 11;

		static final int ATTEMPT = 12;

		static final int DELIVERIES = 13;

		static final int LOST_DELIVERIES = 14;

		static final int LEASE_END = 15;

		static final int SCHEDULE = 16;

		static final int SCHEDULED_AT = 17;

		/** This and the next four columns have the same value in each row. */
		static final int NOW = 18;

		static final int TABLE_SIZE = 19;

		static final int HAS_LEFT = 20;

		static final int LATER_AT = 21;

		static final int ENDED_AT = 22;

		/**
		 * This and the following columns are those of a limited name. The column before
		 * them is only there for its side effect.
		 */
		static final int LOCKED = 24;

		static final int MISSING = 25;

		static final int HAS_LOST = 26;

		static final int FREE = 27;

	}

}

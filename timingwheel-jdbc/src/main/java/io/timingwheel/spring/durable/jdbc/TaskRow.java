package io.timingwheel.spring.durable.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

import io.timingwheel.spring.durable.StoredSchedule;
import io.timingwheel.spring.durable.StoredTask.State;
import io.timingwheel.spring.durable.TaskRef;
import org.jspecify.annotations.Nullable;

/**
 * A row of the table, without the columns that may be large.
 *
 * @param firstAt the time of the first call since the task last began, if that call or a
 * later one had a longest wait; {@code null} if not
 * @param status the ordinal of the task's {@link State}
 * @param leased whether a node has the task
 * @param suspect whether the task waits to be tried alone
 * @param alone whether the task was a suspect when it began
 * @param schedule the schedule of a recurring task, {@code null} for another
 * @param last whether the task is in the last run of a schedule that was cancelled. Such
 * a run is not tried again
 */
record TaskRow(String id, String name, @Nullable String key, long dueAt, @Nullable Long firstAt, int status,
		boolean leased, long fence, int attempt, int deliveries, int lostDeliveries, boolean suspect, boolean alone,
		@Nullable StoredSchedule schedule, boolean last) {

	static final int PENDING = State.PENDING.ordinal();

	static final int RUNNING = State.RUNNING.ordinal();

	static final int DEAD = State.DEAD.ordinal();

	/**
	 * The assignments that end the schedule of a running task. The column
	 * {@code scheduled_at} keeps its time, which marks the run as the last one.
	 */
	static final String END_SCHEDULE = "schedule = null, schedule_key = null";

	static final String COLUMNS = "id, name, task_key, due_at, first_at, status, owner, fence, attempt, deliveries, lost_deliveries,"
			+ " suspect, alone, schedule, scheduled_at";

	/**
	 * The assignment of {@link #nextFence}, with {@link #micros} as its parameter.
	 */
	static final String RAISE_FENCE = "fence = greatest(fence + 1, ?)";

	private static final State[] STATES = State.values();

	static TaskRow read(ResultSet rs, Dialect dialect) throws SQLException {
		return new TaskRow(rs.getString("id"), name(rs, dialect), dialect.text(rs, "task_key"), rs.getLong("due_at"),
				rs.getObject("first_at", Long.class), rs.getInt("status"), rs.getString("owner") != null,
				rs.getLong("fence"), rs.getInt("attempt"), rs.getInt("deliveries"), rs.getInt("lost_deliveries"),
				rs.getInt("suspect") != 0, rs.getInt("alone") != 0, schedule(rs),
				rs.getString("schedule") == null && rs.getObject("scheduled_at") != null);
	}

	static @Nullable StoredSchedule schedule(ResultSet rs) throws SQLException {
		String text = rs.getString("schedule");
		return (text != null) ? new StoredSchedule(text, rs.getLong("scheduled_at")) : null;
	}

	static String name(ResultSet rs, Dialect dialect) throws SQLException {
		return Objects.requireNonNull(dialect.text(rs, "name"));
	}

	static State state(int status) {
		return STATES[status];
	}

	/**
	 * Whether the node with this reference still has the task.
	 */
	boolean isHeldAs(TaskRef task) {
		return this.leased && this.fence == task.fence();
	}

	/**
	 * Whether the node with this reference has already given the task back, and no node
	 * has had the task since.
	 */
	boolean isGivenBackBy(TaskRef task) {
		return this.status == PENDING && !this.leased && this.fence == task.fence();
	}

	/**
	 * The fence that a claim, a move, a replacement or a requeue gives the task. A
	 * failover of the database may lose the latest fences of the task. They are not given
	 * again, since each fence is at least the time in microseconds.
	 * @param now the time by the database's clock, in milliseconds
	 */
	long nextFence(long now) {
		return Math.max(this.fence + 1, micros(now));
	}

	/**
	 * A time in microseconds.
	 */
	static long micros(long millis) {
		return TimeUnit.MILLISECONDS.toMicros(millis);
	}

	boolean isRunning() {
		return this.status == RUNNING;
	}

	boolean isDead() {
		return this.status == DEAD;
	}

}

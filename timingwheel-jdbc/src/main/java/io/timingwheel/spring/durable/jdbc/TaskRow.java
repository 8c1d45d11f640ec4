package io.timingwheel.spring.durable.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

import io.timingwheel.spring.durable.store.LeasedTask;
import io.timingwheel.spring.durable.store.StoredSchedule;
import io.timingwheel.spring.durable.store.StoredTask;
import io.timingwheel.spring.durable.store.StoredTask.State;
import io.timingwheel.spring.durable.store.TaskRef;
import org.jspecify.annotations.Nullable;

/**
 * A row of the table of tasks, without the payload and the trace.
 *
 * @param nextAt the time by which a claim finds the task, {@code null} for a dead task
 * @param status one of {@link #PENDING}, {@link #RUNNING} and {@link #DEAD}
 * @param owner the node that has the task, {@code null} for none
 * @param firstAt the time of the first call since the task last began, if that call or a
 * later one had a longest wait; {@code null} if not
 * @param schedule the schedule of a recurring task, {@code null} for another
 * @param last whether this is the last run of a schedule that was cancelled
 */
record TaskRow(String id, String name, @Nullable String key, long dueAt, @Nullable Long nextAt, int status,
		@Nullable String owner, long fence, int attempt, int deliveries, int lost, @Nullable Long firstAt,
		@Nullable StoredSchedule schedule, boolean last, @Nullable String error, @Nullable Long diedAt) {

	/** The status of a scheduled task, and with an owner that of a leased task. */
	static final int PENDING = 0;

	static final int RUNNING = 1;

	static final int DEAD = 2;

	/**
	 * The value of the column {@code queue} of a pending task that has lost a delivery.
	 * The queue of any other task with a next time is its status. The database computes
	 * this column, so that one index has a queue each for the pending tasks, the running
	 * tasks and the suspects of a name.
	 */
	static final int SUSPECT_QUEUE = 2;

	/** The fence of a new task. A task that replaces another has a higher one. */
	static final long FIRST_FENCE = 1;

	/** The columns for {@link #read}. */
	static final String COLUMNS = "id, name, task_key, due_at, next_at, status, owner, fence, attempt, deliveries,"
			+ " lost, first_at, schedule, scheduled_at, error, died_at";

	/**
	 * The assignment of {@link #nextFence}, with {@link #micros} as its parameter.
	 */
	static final String RAISE_FENCE = "fence = greatest(fence + 1, ?)";

	static TaskRow read(ResultSet rs, Dialect dialect) throws SQLException {
		String schedule = rs.getString("schedule");
		Long scheduledAt = rs.getObject("scheduled_at", Long.class);
		return new TaskRow(rs.getString("id"), Objects.requireNonNull(dialect.text(rs, "name")),
				dialect.text(rs, "task_key"), rs.getLong("due_at"), rs.getObject("next_at", Long.class),
				rs.getInt("status"), rs.getString("owner"), rs.getLong("fence"), rs.getInt("attempt"),
				rs.getInt("deliveries"), rs.getInt("lost"), rs.getObject("first_at", Long.class),
				(schedule != null) ? new StoredSchedule(schedule, rs.getLong("scheduled_at")) : null,
				schedule == null && scheduledAt != null, rs.getString("error"), rs.getObject("died_at", Long.class));
	}

	/**
	 * The column {@code held_key} of a task with a key: of a pending task that runs once,
	 * and of a schedule in every state.
	 * @param schedule whether the task has a schedule
	 */
	static String heldKey(String key, boolean schedule) {
		return (schedule ? "s" : "o") + key;
	}

	/**
	 * The column {@code held_key} of this task while it holds its key.
	 */
	@Nullable Object heldKey(Dialect dialect) {
		return (this.key != null) ? dialect.text(heldKey(this.key, this.schedule != null)) : null;
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

	State state() {
		return switch (this.status) {
			case PENDING -> (this.owner != null) ? State.LEASED : State.SCHEDULED;
			case RUNNING -> State.RUNNING;
			default -> State.DEAD;
		};
	}

	boolean isPending() {
		return this.status == PENDING;
	}

	boolean isRunning() {
		return this.status == RUNNING;
	}

	/**
	 * Whether the node with this reference still has the task.
	 */
	boolean isHeldAs(TaskRef task) {
		return this.owner != null && this.fence == task.fence();
	}

	/**
	 * Whether the node with this reference has already given the task back, and no node
	 * has had the task since.
	 */
	boolean isGivenBackBy(TaskRef task) {
		return this.state() == State.SCHEDULED && this.fence == task.fence();
	}

	StoredTask stored() {
		return new StoredTask(this.id, this.name, this.key, this.dueAt, state(), this.attempt, this.deliveries,
				this.error, this.schedule, this.diedAt);
	}

	/**
	 * The task as a node gets it, if the row is as before the claim.
	 * @param now the time of the claim by the database's clock
	 * @param begins whether the task begins with the claim
	 */
	LeasedTask leased(long now, boolean begins, @Nullable String payload, @Nullable String traceparent) {
		return new LeasedTask(this.id, nextFence(now), this.name, this.key, payload, traceparent, this.dueAt, begins,
				this.attempt, this.deliveries + (begins ? 1 : 0), this.lost, this.schedule);
	}

}

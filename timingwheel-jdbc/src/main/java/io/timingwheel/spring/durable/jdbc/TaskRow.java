package io.timingwheel.spring.durable.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.LeasedTask;
import io.timingwheel.spring.durable.store.StoredTask;
import io.timingwheel.spring.durable.store.StoredTask.State;
import io.timingwheel.spring.durable.store.StoredTask.StoredSchedule;
import org.jspecify.annotations.Nullable;

/** A row of the table of tasks. Who has locked the row changes this, and writes it. */
final class TaskRow {

	/** The status of a scheduled task, and with an owner that of a leased task. */
	static final int PENDING = 0;

	static final int RUNNING = 1;

	static final int DEAD = 2;

	/** Not stored: the row is to be deleted. */
	static final int GONE = 3;

	/**
	 * The value of the column {@code queue} of a pending task that has lost a delivery.
	 * The queue of another task is its status. The database computes the column.
	 */
	static final int SUSPECT_QUEUE = 2;

	private static final List<String> STATE = List.of("status", "owner", "held_key", "fence", "due_at", "next_at",
			"first_at", "schedule", "scheduled_at", "attempt", "deliveries", "lost", "error", "died_at");

	/** The columns for {@link #read}, except the payload and the trace. */
	static final String STATE_COLUMNS = "id, name, task_key, " + String.join(", ", STATE);

	static final String CLAIM_COLUMNS = STATE_COLUMNS
			+ ", case when octet_length(payload) <= ? then payload end as payload, traceparent";

	static final String COLUMNS = STATE_COLUMNS + ", null as payload, null as traceparent";

	private static final String SET_STATE = "update {task} set " + String.join(" = ?, ", STATE) + " = ?";

	static final String WRITE = SET_STATE + " where id = ?";

	static final String REPLACE = SET_STATE + ", payload = ?, traceparent = ?, created_at = ?, id = ? where id = ?";

	static final String NAMES = String.join(", ", STATE) + ", payload, traceparent, created_at, id, name, task_key";

	static final String INSERT = "insert into {task} (" + NAMES + ") values ("
			+ String.join(", ", Collections.nCopies(STATE.size() + 6, "?")) + ")";

	final String id;

	final String name;

	final @Nullable String key;

	/** Pending and not lost, or with a schedule in any state but dead. */
	boolean held;

	long dueAt;

	/** The time by which a claim finds the task, {@code null} for a dead task. */
	@Nullable Long nextAt;

	int status = PENDING;

	@Nullable String owner;

	/** A task that replaces another has a higher fence than a new one. */
	long fence = 1;

	int attempt = 1;

	int deliveries;

	int lost;

	/** The time of the first call since the task last began, for a longest wait. */
	@Nullable Long firstAt;

	@Nullable String schedule;

	/** The time of the next run by the schedule, also after the schedule has ended. */
	@Nullable Long scheduledAt;

	@Nullable String error;

	@Nullable Long diedAt;

	/** {@code null} if too large or not read. */
	@Nullable String payload;

	@Nullable String traceparent;

	TaskRow(String id, String name, @Nullable String key) {
		this.id = id;
		this.name = name;
		this.key = key;
		this.held = key != null;
	}

	static TaskRow read(ResultSet rs, Dialect dialect) throws SQLException {
		TaskRow row = new TaskRow(rs.getString(1), Objects.requireNonNull(dialect.text(rs, 2)), dialect.text(rs, 3));
		row.status = rs.getInt(4);
		row.owner = rs.getString(5);
		row.held = rs.getObject(6) != null;
		row.fence = rs.getLong(7);
		row.dueAt = rs.getLong(8);
		row.nextAt = rs.getObject(9, Long.class);
		row.firstAt = rs.getObject(10, Long.class);
		row.schedule = rs.getString(11);
		row.scheduledAt = rs.getObject(12, Long.class);
		row.attempt = rs.getInt(13);
		row.deliveries = rs.getInt(14);
		row.lost = rs.getInt(15);
		row.error = rs.getString(16);
		row.diedAt = rs.getObject(17, Long.class);
		row.payload = rs.getString(18);
		row.traceparent = rs.getString(19);
		return row;
	}

	static String heldKey(String key, boolean schedule) {
		return (schedule ? "s" : "o") + key;
	}

	@Nullable Object heldKey(Dialect dialect) {
		return (this.key != null && this.held) ? dialect.text(heldKey(this.key, this.schedule != null)) : null;
	}

	Object[] replacement(Dialect dialect, String newId, long now) {
		return values(dialect, Objects.requireNonNull(this.payload), this.traceparent, now, newId, this.id);
	}

	Object[] insertion(Dialect dialect, long now) {
		return values(dialect, Objects.requireNonNull(this.payload), this.traceparent, now, this.id,
				dialect.text(this.name), (this.key != null) ? dialect.text(this.key) : null);
	}

	Object[] values(Dialect dialect, @Nullable Object... others) {
		List<@Nullable Object> values = new ArrayList<>(Arrays.asList(this.status, this.owner, heldKey(dialect),
				this.fence, this.dueAt, this.nextAt, this.firstAt, this.schedule, this.scheduledAt, this.attempt,
				this.deliveries, this.lost, this.error, this.diedAt));
		values.addAll(Arrays.asList(others));
		return values.toArray();
	}

	void lease(String newOwner, long now, long lease) {
		this.owner = newOwner;
		this.fence = nextFence(now);
		this.nextAt = Math.min(Math.max(this.dueAt, now) + lease, DelayedTaskStore.MAX_TIME);
	}

	/** Not a suspect whose lease has ended, which counts for no limit any more. */
	boolean begin(long now) {
		if (isPending() && this.lost > 0 && foundAt() <= now) {
			return false;
		}
		this.deliveries += isPending() ? 1 : 0;
		this.held = this.schedule != null;
		this.firstAt = null;
		this.status = RUNNING;
		return true;
	}

	/**
	 * A suspect, since the lease of its run has ended. It is gone if this was the last
	 * run.
	 */
	void lose(long now) {
		this.owner = null;
		this.fence = nextFence(now);
		this.nextAt = this.dueAt;
		this.lost++;
		this.status = isLast() ? GONE : PENDING;
	}

	void schedule(long due) {
		this.status = PENDING;
		this.owner = null;
		this.held = this.key != null;
		this.dueAt = due;
		this.nextAt = due;
	}

	/** Dead, or gone if this was the last run of a schedule that was cancelled. */
	void bury(String reason, long now) {
		this.status = isLast() ? GONE : DEAD;
		this.owner = null;
		this.held = false;
		this.nextAt = null;
		this.error = reason;
		this.diedAt = now;
	}

	/** As if no node had tried the task yet. */
	void reset() {
		this.attempt = 1;
		this.deliveries = 0;
		this.lost = 0;
		this.error = null;
	}

	/** At least the time in microseconds, since a failover may lose the latest fences. */
	long nextFence(long now) {
		return Math.max(this.fence + 1, TimeUnit.MILLISECONDS.toMicros(now));
	}

	boolean isPending() {
		return this.status == PENDING;
	}

	boolean isRunning() {
		return this.status == RUNNING;
	}

	State state() {
		return switch (this.status) {
			case PENDING -> (this.owner != null) ? State.LEASED : State.SCHEDULED;
			case RUNNING -> State.RUNNING;
			default -> State.DEAD;
		};
	}

	/** Whether this is the last run of a schedule that was cancelled. */
	boolean isLast() {
		return this.schedule == null && this.scheduledAt != null;
	}

	@Nullable StoredSchedule storedSchedule() {
		return (this.schedule != null) ? new StoredSchedule(this.schedule, Objects.requireNonNull(this.scheduledAt))
				: null;
	}

	StoredTask stored() {
		return new StoredTask(this.id, this.name, this.key, this.dueAt, state(), this.attempt, this.deliveries,
				this.error, storedSchedule(), this.diedAt);
	}

	long foundAt() {
		return Objects.requireNonNull(this.nextAt);
	}

	LeasedTask leased() {
		return new LeasedTask(this.id, this.fence, this.name, this.key, this.payload, this.traceparent, this.dueAt,
				isRunning(), this.attempt, this.deliveries, this.lost, storedSchedule());
	}

}

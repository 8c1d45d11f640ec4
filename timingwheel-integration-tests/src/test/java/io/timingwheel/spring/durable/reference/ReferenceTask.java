package io.timingwheel.spring.durable.reference;

import java.nio.charset.StandardCharsets;

import io.timingwheel.spring.durable.LeasedTask;
import io.timingwheel.spring.durable.StoredSchedule;
import io.timingwheel.spring.durable.StoredTask;
import io.timingwheel.spring.durable.StoredTask.State;
import org.jspecify.annotations.Nullable;

/**
 * A task of the {@link ReferenceStore}, guarded by the lock of its data.
 */
final class ReferenceTask {

	final String id;

	final String name;

	final @Nullable String key;

	/** Orders the tasks that have the same time. */
	final long number;

	String payload;

	@Nullable String traceparent;

	State state = State.PENDING;

	/** The node that has the lease. */
	@Nullable String owner;

	long fence;

	/** Whether the task has begun under this lease. */
	boolean begun;

	/** What ended the last lease, so that a repeated request gets the same reply. */
	@Nullable String settledBy;

	long dueAt;

	/** The time by which claims find the task. */
	long nextAt;

	/** The first call of a debounced task. */
	@Nullable Long firstAt;

	int attempt = 1;

	int deliveries;

	int lostDeliveries;

	boolean suspect;

	@Nullable String error;

	long diedAt;

	/** The text of the schedule, {@code null} for a task that runs once. */
	@Nullable String schedule;

	long scheduledAt;

	/** The definition that takes the place of this one after the run. */
	@Nullable ReferenceTask successor;

	/** Whether the schedule ends with the run. */
	boolean ended;

	ReferenceTask(String id, String name, @Nullable String key, long number, String payload,
			@Nullable String traceparent) {
		this.id = id;
		this.name = name;
		this.key = key;
		this.number = number;
		this.payload = payload;
		this.traceparent = traceparent;
	}

	private @Nullable StoredSchedule storedSchedule() {
		return (this.schedule != null && !this.ended) ? new StoredSchedule(this.schedule, this.scheduledAt) : null;
	}

	StoredTask stored() {
		return new StoredTask(this.id, this.name, this.key, this.dueAt, this.state, this.attempt, this.deliveries,
				this.error, storedSchedule(), (this.state == StoredTask.State.DEAD) ? this.diedAt : null);
	}

	LeasedTask leased(long maxPayloadBytes) {
		boolean readable = this.payload.length() <= maxPayloadBytes / 4
				|| this.payload.getBytes(StandardCharsets.UTF_8).length <= maxPayloadBytes;
		return new LeasedTask(this.id, this.fence, this.name, this.key, readable ? this.payload : null,
				this.traceparent, this.dueAt, this.begun, this.attempt, this.deliveries, this.lostDeliveries,
				this.suspect, storedSchedule());
	}

}

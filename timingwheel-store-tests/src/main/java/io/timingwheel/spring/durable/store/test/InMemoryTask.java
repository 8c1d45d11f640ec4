package io.timingwheel.spring.durable.store.test;

import java.nio.charset.StandardCharsets;

import io.timingwheel.spring.durable.store.LeasedTask;
import io.timingwheel.spring.durable.store.StoredTask;
import io.timingwheel.spring.durable.store.StoredTask.State;
import io.timingwheel.spring.durable.store.StoredTask.StoredSchedule;
import org.jspecify.annotations.Nullable;

/**
 * What a store keeps of a task. The lock of the {@link InMemoryTasks} guards all fields.
 */
final class InMemoryTask {

	final String id;

	final String name;

	/** The key, whether or not the task holds it at the moment. */
	final @Nullable String key;

	String payload;

	final @Nullable String traceparent;

	State state = State.SCHEDULED;

	long fence;

	long dueAt;

	/** The time by which a claim finds the task. */
	long nextAt;

	/** The first call since the task last began, of a task that has a longest wait. */
	@Nullable Long firstAt;

	int attempt = 1;

	int deliveries;

	int lost;

	@Nullable String error;

	long diedAt;

	/** The text of the schedule, {@code null} for a task that runs once. */
	@Nullable String schedule;

	/** The time of the run by the schedule. */
	long scheduledAt;

	/** Whether this is the last run of a schedule that was cancelled. */
	boolean ended;

	InMemoryTask(String id, String name, @Nullable String key, String payload, @Nullable String traceparent) {
		this.id = id;
		this.name = name;
		this.key = key;
		this.payload = payload;
		this.traceparent = traceparent;
	}

	/** Whether a node has the task, as far as the fence tells. */
	boolean isHeld() {
		return this.state == State.LEASED || this.state == State.RUNNING;
	}

	boolean isDue(long now) {
		return this.dueAt <= now;
	}

	/** Whether a claim may lease the task if it is due. */
	boolean isFree(long now) {
		return this.state == State.SCHEDULED || (this.state == State.LEASED && this.nextAt <= now);
	}

	/** The fence becomes greater than before, and at least the time in microseconds. */
	void raiseFence(long now) {
		this.fence = Math.max(this.fence + 1, now * 1000);
	}

	/** Forgets all runs, as if the task had never been tried. */
	void startAnew() {
		this.attempt = 1;
		this.deliveries = 0;
		this.lost = 0;
		this.error = null;
		this.firstAt = null;
	}

	private @Nullable StoredSchedule storedSchedule() {
		return (this.schedule != null) ? new StoredSchedule(this.schedule, this.scheduledAt) : null;
	}

	StoredTask stored() {
		return new StoredTask(this.id, this.name, this.key, this.dueAt, this.state, this.attempt, this.deliveries,
				this.error, storedSchedule(), (this.state == State.DEAD) ? this.diedAt : null);
	}

	LeasedTask leased(long maxPayloadBytes) {
		boolean readable = this.payload.getBytes(StandardCharsets.UTF_8).length <= maxPayloadBytes;
		return new LeasedTask(this.id, this.fence, this.name, this.key, readable ? this.payload : null,
				this.traceparent, this.dueAt, this.state == State.RUNNING, this.attempt, this.deliveries, this.lost,
				storedSchedule());
	}

}

package io.timingwheel.spring.durable.support;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.timingwheel.spring.durable.DueTime;
import io.timingwheel.spring.durable.StoredTask;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.TaskId;
import org.jspecify.annotations.Nullable;

/**
 * The handle of a stored task: asks the store.
 */
final class DurableTaskHandle implements DelayedTask<@Nullable Void> {

	private final DurableTaskManager tasks;

	private final String name;

	private final @Nullable String key;

	private volatile String id;

	private volatile Instant dueAt;

	private volatile boolean cancelled;

	/** Whether the store has been told of it. */
	private volatile boolean stored;

	/**
	 * A task that is about to be stored.
	 */
	DurableTaskHandle(DurableTaskManager tasks, String name, @Nullable String key, String id, DueTime due) {
		this.tasks = tasks;
		this.name = name;
		this.key = key;
		this.id = id;
		this.dueAt = Instant.ofEpochMilli(due.resolve(System.currentTimeMillis()));
	}

	/**
	 * A task that is stored.
	 */
	DurableTaskHandle(DurableTaskManager tasks, StoredTask task) {
		this.tasks = tasks;
		this.name = task.name();
		this.key = task.key();
		this.id = task.id();
		this.dueAt = Instant.ofEpochMilli(task.dueAt());
		this.stored = true;
	}

	/**
	 * The store has it, or another in its place.
	 */
	void stored(String id, long dueAt) {
		this.id = id;
		this.dueAt = Instant.ofEpochMilli(dueAt);
		this.stored = true;
	}

	/**
	 * It is not stored: its transaction was rolled back, or the store refused.
	 */
	void abandon() {
		this.cancelled = true;
	}

	/**
	 * Whether the store has been heard to have it, or another in its place.
	 */
	boolean isStored() {
		return this.stored;
	}

	String name() {
		return this.name;
	}

	@Override
	public String id() {
		return this.id;
	}

	@Override
	public @Nullable TaskId taskId() {
		return (this.key != null) ? new TaskId(this.name, this.key) : null;
	}

	@Override
	public Instant dueAt() {
		return this.dueAt;
	}

	/**
	 * One that is gone has succeeded, as far as can be known: it may also have been
	 * cancelled or replaced by others.
	 */
	@Override
	public Status status() {
		if (this.cancelled) {
			return Status.CANCELLED;
		}
		if (!this.stored) {
			return Status.SCHEDULED;
		}
		return this.tasks.find(this.id).map((task) -> switch (task.state()) {
			case PENDING -> Status.SCHEDULED;
			case RUNNING -> Status.RUNNING;
			case DEAD -> Status.FAILED;
		}).orElse(Status.SUCCEEDED);
	}

	@Override
	public boolean cancel(boolean mayInterruptIfRunning) {
		if (this.cancelled || !this.tasks.cancel(this.name, this.id)) {
			return false;
		}
		this.cancelled = true;
		this.tasks.onRollback(() -> this.cancelled = false);
		return true;
	}

	@Override
	public boolean reschedule(Duration delay) {
		if (this.cancelled || !this.tasks.reschedule(this.name, this.id, delay)) {
			return false;
		}
		this.dueAt = this.tasks.find(this.id).map((task) -> Instant.ofEpochMilli(task.dueAt())).orElse(this.dueAt);
		return true;
	}

	@Override
	public boolean isCancelled() {
		return this.cancelled;
	}

	@Override
	public boolean isDone() {
		return switch (status()) {
			case SCHEDULED, RUNNING -> false;
			case SUCCEEDED, FAILED, CANCELLED, REPLACED -> true;
		};
	}

	@Override
	public CompletableFuture<@Nullable Void> completion() {
		throw noResult();
	}

	@Override
	public @Nullable Void get() {
		throw noResult();
	}

	@Override
	public @Nullable Void get(long timeout, TimeUnit unit) {
		throw noResult();
	}

	private static UnsupportedOperationException noResult() {
		return new UnsupportedOperationException(
				"A durable task has no result, as any node may run it: ask for its status instead");
	}

	@Override
	public String toString() {
		return "DurableTaskHandle[" + this.name + ((this.key != null) ? "/" + this.key : "") + ", id=" + this.id + "]";
	}

}

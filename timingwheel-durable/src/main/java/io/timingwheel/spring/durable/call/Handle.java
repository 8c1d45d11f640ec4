package io.timingwheel.spring.durable.call;

import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.timingwheel.spring.durable.store.DueTime;
import io.timingwheel.spring.durable.store.StoredTask;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.TaskId;
import org.jspecify.annotations.Nullable;

/**
 * The handle of a durable task, which asks the store. Thread-safe.
 */
final class Handle implements DelayedTask<@Nullable Void> {

	private static final SecureRandom random = new SecureRandom();

	private final Pending tasks;

	private final String name;

	private final @Nullable String key;

	private volatile String id;

	private volatile Instant dueAt;

	private volatile boolean cancelled;

	/** Whether the store has the task, or had it. */
	private volatile boolean stored;

	/** Whether the task is about to be stored after the commit; guarded by this. */
	private boolean storing;

	/**
	 * Creates the handle of a task that is about to be stored.
	 */
	Handle(Pending tasks, String name, @Nullable String key, DueTime due) {
		this.tasks = tasks;
		this.name = name;
		this.key = key;
		this.id = nextId();
		this.dueAt = Instant.ofEpochMilli(due.resolve(System.currentTimeMillis()));
	}

	/**
	 * Creates the handle of a task that is stored.
	 */
	Handle(Pending tasks, StoredTask task) {
		this.tasks = tasks;
		this.name = task.name();
		this.key = task.key();
		this.id = task.id();
		this.dueAt = Instant.ofEpochMilli(task.dueAt());
		this.stored = true;
	}

	/**
	 * Makes a UUID of version 7 (RFC 9562). The UUID begins with the time by the clock of
	 * this node, so that new rows are side by side in an index.
	 */
	private static String nextId() {
		long high = (System.currentTimeMillis() << 16) | 0x7000L | (random.nextLong() & 0xFFFL);
		long low = (random.nextLong() >>> 2) | 0x8000000000000000L;
		return new UUID(high, low).toString();
	}

	/**
	 * Makes this the handle of the task in the store. If this task gave way to a pending
	 * task, this is the pending task.
	 */
	void stored(String id, long dueAt) {
		this.id = id;
		moved(dueAt);
		this.stored = true;
	}

	/**
	 * Records the due time that the store has given to the task.
	 */
	void moved(long dueAt) {
		this.dueAt = Instant.ofEpochMilli(dueAt);
	}

	/**
	 * Marks the task as not stored, since its transaction was rolled back or the store
	 * refused.
	 */
	void abandon() {
		this.cancelled = true;
	}

	boolean isStored() {
		return this.stored;
	}

	/**
	 * Cancels a task that waits for the commit before it is stored.
	 * @return {@code false} if the task does not wait
	 */
	synchronized boolean withdraw() {
		boolean waiting = isWaiting();
		this.cancelled |= waiting;
		return waiting;
	}

	/**
	 * Ends the wait for the commit.
	 * @return {@code false} if the task has been cancelled in the meantime
	 */
	synchronized boolean beginStoring() {
		this.storing = !this.cancelled;
		return this.storing;
	}

	/**
	 * Whether the task waits for the commit before it is stored.
	 */
	synchronized boolean isWaiting() {
		return !this.cancelled && !this.storing && !this.stored;
	}

	String name() {
		return this.name;
	}

	@Nullable String key() {
		return this.key;
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
	 * A task that is no longer in the store counts as succeeded. It may also have been
	 * cancelled or replaced through another handle.
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
			case SCHEDULED, LEASED -> Status.SCHEDULED;
			case RUNNING -> Status.RUNNING;
			case DEAD -> Status.FAILED;
		}).orElse(Status.SUCCEEDED);
	}

	@Override
	public boolean cancel(boolean mayInterruptIfRunning) {
		Runnable restore = () -> this.cancelled = false;
		if (withdraw()) {
			this.tasks.withdrawn(this.name, restore);
			return true;
		}
		if (this.cancelled || !this.tasks.cancel(this.name, this.id)) {
			return false;
		}
		this.cancelled = true;
		this.tasks.onRollback(restore);
		return true;
	}

	@Override
	public boolean reschedule(Duration delay) {
		return !this.cancelled && this.tasks.reschedule(this, delay);
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
				"A durable task has no result, since any node may run it: ask for its status instead");
	}

	@Override
	public String toString() {
		return "Handle[" + this.name + ((this.key != null) ? "/" + this.key : "") + ", id=" + this.id + "]";
	}

}

package io.timingwheel.spring.durable.call;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

import io.timingwheel.spring.durable.store.Target.Kind;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.internal.TaskRecorder.TaskOutcome;
import io.timingwheel.spring.task.internal.Transactions;
import io.timingwheel.spring.task.internal.Transactions.DeferredCall;
import io.timingwheel.spring.task.internal.Transactions.DeferredCall.Effect;
import org.jspecify.annotations.Nullable;

/** The handle of a durable task, which asks the store. Thread-safe. */
final class Handle implements DelayedTask<@Nullable Void> {

	private final PendingTasks tasks;

	private final String name;

	private final @Nullable String key;

	private final AtomicReference<State> state;

	private volatile String id;

	private volatile Instant dueAt;

	Handle(PendingTasks tasks, String name, @Nullable String key, State state, String id, long dueAt) {
		this.tasks = tasks;
		this.name = name;
		this.key = key;
		this.state = new AtomicReference<>(state);
		this.id = id;
		this.dueAt = Instant.ofEpochMilli(dueAt);
	}

	/** If this task gave way to a pending task, this becomes the handle of that task. */
	void stored(String id, long dueAt) {
		this.id = id;
		moved(Instant.ofEpochMilli(dueAt));
		this.state.getAndUpdate((before) -> (before != State.CANCELLED) ? State.STORED : before);
	}

	void moved(Instant dueAt) {
		this.dueAt = dueAt;
	}

	/** The transaction was rolled back, or the store refused. */
	void abandon() {
		this.state.set(State.CANCELLED);
	}

	/**
	 * Waits for the end of the transaction, unless a later call of the transaction
	 * overrides this one. All calls that are still wanted are stored at once.
	 */
	void awaitCommit(Kind kind, Effect effect) {
		Transactions.defer(new DeferredCall(this.tasks.access.key(this.name, this.key, kind), effect) {

			@Override
			protected void rollback() {
				abandon();
			}

			@Override
			protected void override(Effect later) {
				if (endWait(State.CANCELLED)) {
					count((later == Effect.CANCEL) ? TaskOutcome.CANCELLED : TaskOutcome.REPLACED);
				}
			}

		});
	}

	boolean is(State state) {
		return this.state.get() == state;
	}

	/** Ends the wait for the commit, unless that was done already. */
	boolean endWait(State next) {
		return this.state.compareAndSet(State.WAITING, next);
	}

	void count(TaskOutcome outcome) {
		this.tasks.access.count(this.name, outcome);
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

	/** A task that has left the store counts as succeeded. */
	@Override
	public Status status() {
		return switch (this.state.get()) {
			case WAITING, STORING -> Status.SCHEDULED;
			case CANCELLED -> Status.CANCELLED;
			case STORED -> this.tasks.findStored(this.id).map((task) -> switch (task.state()) {
				case SCHEDULED, LEASED -> Status.SCHEDULED;
				case RUNNING -> Status.RUNNING;
				case DEAD -> Status.FAILED;
			}).orElse(Status.SUCCEEDED);
		};
	}

	@Override
	public boolean cancel(boolean mayInterruptIfRunning) {
		boolean withdrawn = endWait(State.CANCELLED);
		if (withdrawn) {
			count(TaskOutcome.CANCELLED);
		}
		else if (isCancelled() || !this.tasks.cancel(this.name, this.id)) {
			return false;
		}
		this.state.set(State.CANCELLED);
		Transactions.onRollback(() -> this.state.set(withdrawn ? State.WAITING : State.STORED));
		return true;
	}

	@Override
	public boolean reschedule(Duration delay) {
		return !isCancelled() && this.tasks.reschedule(this, delay);
	}

	@Override
	public boolean isCancelled() {
		return is(State.CANCELLED);
	}

	@Override
	public boolean isDone() {
		Status status = status();
		return status != Status.SCHEDULED && status != Status.RUNNING;
	}

	@Override
	public CompletableFuture<@Nullable Void> completion() {
		throw new UnsupportedOperationException(
				"A durable task has no result, since any node may run it: ask for its status instead");
	}

	@Override
	public @Nullable Void get() {
		return completion().join();
	}

	@Override
	public @Nullable Void get(long timeout, TimeUnit unit) {
		return get();
	}

	@Override
	public String toString() {
		return "Handle[" + this.name + ((this.key != null) ? "/" + this.key : "") + ", id=" + this.id + "]";
	}

	enum State {

		/** It waits for the commit, or for the reply of the store. */
		WAITING,

		STORING,

		STORED,

		/** Also if it was not stored. */
		CANCELLED

	}

}

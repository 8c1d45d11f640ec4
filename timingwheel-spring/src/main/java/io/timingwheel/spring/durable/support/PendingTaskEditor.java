package io.timingwheel.spring.durable.support;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.DueTime;
import io.timingwheel.spring.durable.LeaseOffer;
import io.timingwheel.spring.durable.Rescheduled;
import io.timingwheel.spring.durable.StoredTask.State;
import io.timingwheel.spring.durable.StoredTask;
import io.timingwheel.spring.durable.TaskLimits;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.support.DeferredCall.Effect;
import io.timingwheel.spring.task.support.DelayedTaskRegistry;
import io.timingwheel.spring.task.support.TaskOutcome;
import io.timingwheel.spring.task.support.Transactions;
import org.jspecify.annotations.Nullable;

/**
 * Finds, cancels and moves pending tasks, by their ids or by their keys under all names
 * of a handler. Changes take part in the caller's transaction. If the store takes no part
 * in the transaction, changes are made after the commit. Thread-safe.
 */
final class PendingTaskEditor {

	private final DelayedTaskStore store;

	private final CallerTransaction transaction;

	private final DurableHandlerRegistry handlers;

	private final DelayedTaskRegistry tasks;

	private final TaskIntake intake;

	private final StoreClock clock;

	private final Runnable onChange;

	PendingTaskEditor(DelayedTaskStore store, CallerTransaction transaction, DurableHandlerRegistry handlers,
			DelayedTaskRegistry tasks, TaskIntake intake, StoreClock clock, Runnable onChange) {
		this.store = store;
		this.transaction = transaction;
		this.handlers = handlers;
		this.tasks = tasks;
		this.intake = intake;
		this.clock = clock;
		this.onChange = onChange;
	}

	/**
	 * Finds a pending task.
	 */
	Optional<StoredTask> find(TaskId id) {
		return ids(id).stream().flatMap((each) -> this.store.find(each).stream()).findFirst();
	}

	/**
	 * Finds a task in any state.
	 */
	Optional<StoredTask> find(String id) {
		return this.store.find(id);
	}

	boolean cancel(TaskId id) {
		if (!this.transaction.isDeferred()) {
			boolean cancelled = false;
			for (TaskId each : ids(id)) {
				cancelled |= this.store.cancel(each);
			}
			return countCancelled(cancelled, id.name());
		}
		Effect earlier = this.transaction.effectOfEarlierCalls(canonical(id));
		if (earlier == Effect.CANCEL) {
			return false;
		}
		List<String> pending = pendingIds(id);
		if (pending.isEmpty() && !earlier.leavesPending()) {
			return false;
		}
		this.transaction.defer(canonical(id), Effect.CANCEL, () -> cancelAll(id.name(), pending));
		return true;
	}

	/**
	 * A cancellation for later. It takes only a task that is pending now.
	 */
	Runnable cancellation(TaskId id) {
		List<String> pending = pendingIds(id);
		return () -> cancelAll(id.name(), pending);
	}

	private List<String> pendingIds(TaskId id) {
		return ids(id).stream().flatMap((each) -> this.store.find(each).stream()).map(StoredTask::id).toList();
	}

	private boolean cancelAll(String name, List<String> ids) {
		boolean cancelled = false;
		for (String id : ids) {
			cancelled |= this.store.cancel(id);
		}
		return countCancelled(cancelled, name);
	}

	boolean cancel(String name, String id) {
		if (!this.transaction.isDeferred()) {
			return countCancelled(this.store.cancel(id), name);
		}
		StoredTask task = findPending(id);
		if (task == null) {
			return false;
		}
		TaskId taskId = taskId(task);
		// If an earlier call waits to store a task with this key, that call is not
		// overridden, since it did not make this task pending.
		this.transaction.defer((effectOfEarlierCalls(taskId) == Effect.NONE) ? taskId : null, Effect.CANCEL,
				() -> cancelAll(name, List.of(id)));
		return true;
	}

	/**
	 * Finds a task that is pending and that no earlier call of the transaction is going
	 * to cancel or replace.
	 */
	private @Nullable StoredTask findPending(String id) {
		return this.store.find(id).filter((task) -> task.state() == State.PENDING).filter((task) -> {
			Effect earlier = effectOfEarlierCalls(taskId(task));
			return earlier != Effect.CANCEL && earlier != Effect.REPLACE;
		}).orElse(null);
	}

	private @Nullable TaskId taskId(StoredTask task) {
		String key = task.key();
		return (key != null) ? canonical(new TaskId(task.name(), key)) : null;
	}

	private Effect effectOfEarlierCalls(@Nullable TaskId id) {
		return (id != null) ? this.transaction.effectOfEarlierCalls(id) : Effect.NONE;
	}

	/**
	 * Withdraws a task that waits for the commit before it is stored.
	 * @param restore runs if the transaction is rolled back to a savepoint from before
	 * this call
	 */
	void withdrawn(String name, Runnable restore) {
		if (Transactions.isActive()) {
			Transactions.afterCompletion(() -> countCancelled(true, name), restore);
		}
	}

	private boolean countCancelled(boolean cancelled, String name) {
		if (cancelled) {
			this.transaction
				.onceCertain(() -> this.tasks.recorder(this.handlers.canonicalName(name)).count(TaskOutcome.CANCELLED));
		}
		return cancelled;
	}

	/**
	 * Runs an action if a rollback undoes the last change of the calling thread.
	 */
	void onRollback(Runnable action) {
		this.transaction.onRollback(action);
	}

	boolean reschedule(TaskId id, Duration delay) {
		DueTime due = DueTime.after(delay);
		BooleanSupplier change = () -> ids(id).stream()
			.anyMatch((each) -> move(each.name(), due, (offer) -> this.store.reschedule(each, due, offer)));
		if (!this.transaction.isDeferred()) {
			return change.getAsBoolean();
		}
		Effect earlier = this.transaction.effectOfEarlierCalls(canonical(id));
		boolean pending = (earlier == Effect.NONE) ? find(id).isPresent() : earlier.leavesPending();
		if (pending) {
			this.transaction.defer(null, Effect.NONE, change);
		}
		return pending;
	}

	/**
	 * Moves a task.
	 * @param waiting whether the task is going to be stored at the commit
	 */
	boolean reschedule(String name, String id, Duration delay, boolean waiting) {
		DueTime due = DueTime.after(delay);
		BooleanSupplier change = () -> move(name, due, (offer) -> this.store.reschedule(id, due, offer));
		if (!this.transaction.isDeferred()) {
			return change.getAsBoolean();
		}
		boolean pending = waiting || findPending(id) != null;
		if (pending) {
			this.transaction.defer(null, Effect.NONE, change);
		}
		return pending;
	}

	private boolean move(String name, DueTime due, Function<@Nullable LeaseOffer, @Nullable Rescheduled> call) {
		LeaseOffer offer = this.intake.offer(name, due);
		Rescheduled moved = null;
		long sent = this.clock.wheelNanos();
		try {
			moved = call.apply(offer);
		}
		finally {
			if (offer != null && (moved == null || !moved.leased())) {
				this.intake.withdrawOffers(1);
			}
		}
		if (moved != null) {
			accept(moved, this.clock.heard(moved.now(), sent));
			this.onChange.run();
			this.transaction.onceCertain(this.onChange);
		}
		return moved != null;
	}

	private void accept(Rescheduled moved, long ahead) {
		if (moved.leased()) {
			this.transaction.onceCertain(() -> this.intake.accept(moved.task(), LeaseTerm.NONE, ahead),
					() -> this.intake.withdrawOffers(1));
		}
		else if (this.intake.isLimited(moved.task().name())) {
			this.transaction.onceCertain(() -> this.intake.expect(moved.task().dueAt(), ahead));
		}
	}

	/**
	 * The key under the current name of its handler.
	 */
	private TaskId canonical(TaskId id) {
		return new TaskId(this.handlers.canonicalName(id.name()), id.key());
	}

	/**
	 * The key under all names of its handler; empty if no store can have such a task.
	 */
	private List<TaskId> ids(TaskId id) {
		if (!TaskLimits.isStorable(id)) {
			return List.of();
		}
		return this.handlers.allNames(id.name()).stream().map((name) -> new TaskId(name, id.key())).toList();
	}

}

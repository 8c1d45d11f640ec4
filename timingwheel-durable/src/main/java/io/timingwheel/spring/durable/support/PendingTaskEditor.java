package io.timingwheel.spring.durable.support;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Predicate;

import io.timingwheel.spring.durable.DelayedTaskStore.Kind;
import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.DueTime;
import io.timingwheel.spring.durable.LeaseOffer;
import io.timingwheel.spring.durable.Rescheduled;
import io.timingwheel.spring.durable.StoredTask.State;
import io.timingwheel.spring.durable.StoredTask;
import io.timingwheel.spring.durable.TaskLimits;
import io.timingwheel.spring.durable.support.CallerTransaction.KeyInTransaction;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.internal.DeferredCall.Effect;
import io.timingwheel.spring.task.internal.TaskOutcome;
import io.timingwheel.spring.task.internal.Transactions;
import io.timingwheel.spring.task.support.DelayedTaskRegistry;
import org.jspecify.annotations.Nullable;

/**
 * Finds, cancels and moves pending tasks, by their ids or by their keys under all names
 * of a handler. A key means the task that runs once, under any of the names, before it
 * means a schedule. Changes take part in the caller's transaction. If the store takes no
 * part in the transaction, changes are made after the commit. Thread-safe.
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
	 * Finds the pending task with a key or, if there is none, the schedule with this key.
	 */
	Optional<StoredTask> find(TaskId id) {
		return findAll(id).stream().findFirst();
	}

	/**
	 * Finds what a key means: the tasks that run once or, if there are none, the
	 * schedules.
	 */
	private List<StoredTask> findAll(TaskId id) {
		List<StoredTask> found = findAll(id, Kind.EITHER);
		List<StoredTask> once = found.stream().filter((task) -> kind(task) == Kind.ONCE).toList();
		return once.isEmpty() ? found : once;
	}

	private List<StoredTask> findAll(TaskId id, Kind kind) {
		return ids(id).stream().flatMap((each) -> this.store.find(each, kind).stream()).toList();
	}

	private static Kind kind(StoredTask task) {
		return (task.schedule() != null) ? Kind.SCHEDULE : Kind.ONCE;
	}

	/**
	 * Finds a task in any state.
	 */
	Optional<StoredTask> find(String id) {
		return this.store.find(id);
	}

	boolean cancel(TaskId id) {
		if (this.transaction.isDeferred()) {
			return cancelAfterCommit(id, Kind.ONCE) || cancelAfterCommit(id, Kind.SCHEDULE);
		}
		List<TaskId> ids = ids(id);
		return countCancelled(firstOf(ids, (kind) -> cancelAll(ids, kind)), id.name());
	}

	private boolean cancelAll(List<TaskId> ids, Kind kind) {
		boolean cancelled = false;
		for (TaskId id : ids) {
			cancelled |= this.store.cancel(id, kind);
		}
		return cancelled;
	}

	/**
	 * Acts on the tasks that run once or, if there are none, on the schedules.
	 * @param ids a key under all names; the store knows the order of the two for one name
	 * @param action tells whether there was a task
	 */
	private static boolean firstOf(List<TaskId> ids, Predicate<Kind> action) {
		return (ids.size() > 1 && action.test(Kind.ONCE)) || action.test(Kind.EITHER);
	}

	private boolean cancelAfterCommit(TaskId id, Kind kind) {
		Effect earlier = this.transaction.effectOfEarlierCalls(key(id, kind));
		if (earlier == Effect.CANCEL) {
			return false;
		}
		List<String> stored = findAll(id, kind).stream().map(StoredTask::id).toList();
		if (stored.isEmpty() && !earlier.leavesPending()) {
			return false;
		}
		this.transaction.defer(key(id, kind), Effect.CANCEL, () -> cancelAll(id.name(), stored));
		return true;
	}

	/**
	 * A cancellation for later. It takes only a task that is pending now.
	 */
	Runnable cancellation(TaskId id) {
		List<String> pending = findAll(id).stream().map(StoredTask::id).toList();
		return () -> cancelAll(id.name(), pending);
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
		StoredTask task = findUnlessReplaced(id);
		if (task == null || (task.state() != State.PENDING && kind(task) == Kind.ONCE)) {
			return false;
		}
		KeyInTransaction key = key(task);
		// If an earlier call waits to store a task with this key, that call is not
		// overridden, since it did not make this task pending.
		this.transaction.defer((effectOfEarlierCalls(key) == Effect.NONE) ? key : null, Effect.CANCEL,
				() -> cancelAll(name, List.of(id)));
		return true;
	}

	/**
	 * Finds a task that no earlier call of the transaction is going to cancel or replace.
	 */
	private @Nullable StoredTask findUnlessReplaced(String id) {
		return this.store.find(id).filter((task) -> {
			Effect earlier = effectOfEarlierCalls(key(task));
			return earlier != Effect.CANCEL && earlier != Effect.REPLACE;
		}).orElse(null);
	}

	private @Nullable KeyInTransaction key(StoredTask task) {
		String key = task.key();
		return (key != null) ? key(new TaskId(task.name(), key), kind(task)) : null;
	}

	private Effect effectOfEarlierCalls(@Nullable KeyInTransaction key) {
		return (key != null) ? this.transaction.effectOfEarlierCalls(key) : Effect.NONE;
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
		List<TaskId> ids = ids(id);
		BooleanSupplier change = () -> firstOf(ids, (kind) -> move(ids, kind, due));
		if (!this.transaction.isDeferred()) {
			return change.getAsBoolean();
		}
		boolean pending = isPending(id, Kind.ONCE) || isPending(id, Kind.SCHEDULE);
		if (pending) {
			this.transaction.defer(null, Effect.NONE, change);
		}
		return pending;
	}

	private boolean move(List<TaskId> ids, Kind kind, DueTime due) {
		return ids.stream()
			.anyMatch((id) -> move(id.name(), due, (offer) -> this.store.reschedule(id, kind, due, offer)));
	}

	/**
	 * Whether a task is pending after the earlier calls of the transaction.
	 */
	private boolean isPending(TaskId id, Kind kind) {
		Effect earlier = this.transaction.effectOfEarlierCalls(key(id, kind));
		return (earlier == Effect.NONE) ? findAll(id, kind).stream().anyMatch((task) -> task.state() == State.PENDING)
				: earlier.leavesPending();
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
		StoredTask task = waiting ? null : findUnlessReplaced(id);
		boolean pending = waiting || (task != null && task.state() == State.PENDING);
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
	 * The key in the transaction, under the current name of its handler.
	 */
	private KeyInTransaction key(TaskId id, Kind kind) {
		return this.transaction.key(new TaskId(this.handlers.canonicalName(id.name()), id.key()), kind);
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

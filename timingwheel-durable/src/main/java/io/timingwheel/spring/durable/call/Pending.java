package io.timingwheel.spring.durable.call;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Predicate;

import io.timingwheel.spring.durable.call.CallerTransaction.Due;
import io.timingwheel.spring.durable.call.CallerTransaction.Key;
import io.timingwheel.spring.durable.store.DueTime;
import io.timingwheel.spring.durable.store.Moved;
import io.timingwheel.spring.durable.store.StoredTask;
import io.timingwheel.spring.durable.store.Target;
import io.timingwheel.spring.durable.store.Target.Kind;
import io.timingwheel.spring.durable.store.TaskLimits;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.internal.DeferredCall;
import io.timingwheel.spring.task.internal.DeferredCall.Effect;
import io.timingwheel.spring.task.internal.TaskOutcome;
import io.timingwheel.spring.task.internal.Transactions;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Finds, cancels and moves pending tasks, by their ids or by their keys under all names
 * of a method. A key means the task that runs once, under any of the names, before it
 * means a schedule. Thread-safe.
 */
final class Pending {

	private static final Log logger = LogFactory.getLog(Pending.class);

	private final CallParts parts;

	private final CallerTransaction transaction;

	Pending(CallParts parts, CallerTransaction transaction) {
		this.parts = parts;
		this.transaction = transaction;
	}

	/**
	 * Finds the pending task with a key or, if there is none, the schedule with this key.
	 */
	Optional<StoredTask> find(TaskId id) {
		return findAll(id).stream().findFirst();
	}

	/**
	 * Finds a task in any state.
	 */
	Optional<StoredTask> find(String id) {
		return this.parts.store().find(Target.of(id));
	}

	/**
	 * Finds what a key means: the tasks that run once or, if there are none, the
	 * schedules.
	 */
	private List<StoredTask> findAll(TaskId id) {
		List<StoredTask> found = findAll(id, Kind.EITHER);
		List<StoredTask> once = found.stream().filter((task) -> task.schedule() == null).toList();
		return once.isEmpty() ? found : once;
	}

	private List<StoredTask> findAll(TaskId id, Kind kind) {
		return ids(id).stream().flatMap((each) -> this.parts.store().find(Target.of(each, kind)).stream()).toList();
	}

	/**
	 * The key under all names of its method; empty if no store can have such a task.
	 */
	private List<TaskId> ids(TaskId id) {
		if (!TaskLimits.isStorable(id)) {
			return List.of();
		}
		return this.parts.handlers().allNames(id.name()).stream().map((name) -> new TaskId(name, id.key())).toList();
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
			cancelled |= this.parts.store().cancel(Target.of(id, kind));
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

	/**
	 * Cancels the tasks that are pending now, once the transaction has committed.
	 */
	private boolean cancelAfterCommit(TaskId id, Kind kind) {
		Key key = this.transaction.key(id, kind);
		Effect earlier = this.transaction.earlier(key);
		if (earlier == Effect.CANCEL) {
			return false;
		}
		List<String> stored = findAll(id, kind).stream().map(StoredTask::id).toList();
		if (stored.isEmpty() && !earlier.leavesPending()) {
			return false;
		}
		defer(key, Effect.CANCEL, () -> cancelAll(id.name(), stored));
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
			cancelled |= this.parts.store().cancel(Target.of(id));
		}
		return countCancelled(cancelled, name);
	}

	boolean cancel(String name, String id) {
		if (!this.transaction.isDeferred()) {
			return cancelAll(name, List.of(id));
		}
		StoredTask task = findUnlessReplaced(id);
		if (task == null || (!task.state().isPending() && task.schedule() == null)) {
			return false;
		}
		Key key = key(task);
		// If an earlier call waits to store a task with this key, that call is not
		// overridden, since it did not make this task pending.
		defer((this.transaction.earlier(key) == Effect.NONE) ? key : null, Effect.CANCEL,
				() -> cancelAll(name, List.of(id)));
		return true;
	}

	/**
	 * Finds a task that no earlier call of the transaction is going to cancel or replace.
	 */
	private @Nullable StoredTask findUnlessReplaced(String id) {
		return find(id).filter((task) -> {
			Effect earlier = this.transaction.earlier(key(task));
			return earlier != Effect.CANCEL && earlier != Effect.REPLACE;
		}).orElse(null);
	}

	private @Nullable Key key(StoredTask task) {
		String key = task.key();
		return (key != null) ? this.transaction.key(new TaskId(task.name(), key),
				(task.schedule() != null) ? Kind.SCHEDULE : Kind.ONCE) : null;
	}

	/**
	 * Records that a task that waited for the commit is cancelled.
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
			this.transaction.onceCertain(() -> this.parts.recorder(name).count(TaskOutcome.CANCELLED));
		}
		return cancelled;
	}

	void onRollback(Runnable action) {
		this.transaction.onRollback(action);
	}

	boolean reschedule(TaskId id, Duration delay) {
		DueTime due = DueTime.after(delay);
		List<TaskId> ids = ids(id);
		BooleanSupplier change = () -> firstOf(ids,
				(kind) -> ids.stream().anyMatch((each) -> move(Target.of(each, kind), due, (moved) -> {
				})));
		if (!this.transaction.isDeferred()) {
			return change.getAsBoolean();
		}
		return (isPending(id, Kind.ONCE) || isPending(id, Kind.SCHEDULE)) && defer(null, Effect.NONE, change);
	}

	/**
	 * Whether a task is pending after the earlier calls of the transaction.
	 */
	private boolean isPending(TaskId id, Kind kind) {
		Effect earlier = this.transaction.earlier(this.transaction.key(id, kind));
		return (earlier == Effect.NONE) ? findAll(id, kind).stream().anyMatch((task) -> task.state().isPending())
				: earlier.leavesPending();
	}

	/**
	 * Moves a task.
	 * @param name its name
	 * @param id its id
	 */
	boolean reschedule(String id, Duration delay) {
		return reschedule(id, false, delay, (moved) -> {
		});
	}

	boolean reschedule(Handle task, Duration delay) {
		Instant before = task.dueAt();
		return reschedule(task.id(), task.isWaiting(), delay, (moved) -> {
			task.moved(moved.dueAt());
			onRollback(() -> task.moved(before.toEpochMilli()));
		});
	}

	/**
	 * Moves a task.
	 * @param waiting whether the task is going to be stored at the commit
	 * @param moved takes the result
	 */
	private boolean reschedule(String id, boolean waiting, Duration delay, Consumer<Moved> moved) {
		DueTime due = DueTime.after(delay);
		BooleanSupplier change = () -> move(Target.of(id), due, moved);
		if (!this.transaction.isDeferred()) {
			return change.getAsBoolean();
		}
		StoredTask task = waiting ? null : findUnlessReplaced(id);
		return (waiting || (task != null && task.state().isPending())) && defer(null, Effect.NONE, change);
	}

	private boolean move(Target target, DueTime due, Consumer<Moved> listener) {
		Moved moved = this.parts.store().move(target, due);
		if (moved == null) {
			return false;
		}
		listener.accept(moved);
		this.transaction.expect(List.of(new Due(moved.name(), moved.dueAt())), moved.now());
		return true;
	}

	/**
	 * Changes a task after the commit.
	 * @param key the task in the transaction; {@code null} for one without a key
	 * @param effect what the change does to the task
	 * @param change changes the task and tells whether it was pending
	 * @return {@code true}
	 */
	private static boolean defer(@Nullable Key key, Effect effect, BooleanSupplier change) {
		Transactions.defer(new DeferredCall(key, effect) {

			@Override
			protected void commit() {
				try {
					boolean done = change.getAsBoolean();
					logger.debug(done ? "Changed a durable task after the commit"
							: "Found no pending durable task to change after the commit");
				}
				catch (RuntimeException ex) {
					logger.error("A durable task could not be cancelled or moved after the commit", ex);
				}
			}

		});
		return true;
	}

}

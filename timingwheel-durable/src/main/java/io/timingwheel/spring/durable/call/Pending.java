package io.timingwheel.spring.durable.call;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;

import io.timingwheel.spring.durable.call.CallerTransaction.Key;
import io.timingwheel.spring.durable.store.DueTime;
import io.timingwheel.spring.durable.store.Moved;
import io.timingwheel.spring.durable.store.StoredTask;
import io.timingwheel.spring.durable.store.Target;
import io.timingwheel.spring.durable.store.Target.Kind;
import io.timingwheel.spring.durable.store.TaskLimits;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.internal.DeferredCall.Effect;
import io.timingwheel.spring.task.internal.TaskOutcome;
import org.jspecify.annotations.Nullable;

/**
 * Finds, cancels and moves pending tasks by their ids, or by keys under all names of a
 * method. A key means tasks that run once before it means schedules. Thread-safe.
 *
 * @since 0.1
 */
public final class Pending {

	private final CallParts parts;

	private final CallerTransaction transaction;

	Pending(CallParts parts, CallerTransaction transaction) {
		this.parts = parts;
		this.transaction = transaction;
	}

	public Optional<StoredTask> find(TaskId id) {
		return findAll(id).stream().findFirst();
	}

	/** Finds a task in any state. */
	public Optional<StoredTask> find(String id) {
		return this.parts.store().find(Target.of(id));
	}

	private List<StoredTask> findAll(TaskId id) {
		List<StoredTask> found = findAll(id, Kind.EITHER);
		List<StoredTask> once = found.stream().filter((task) -> task.schedule() == null).toList();
		return once.isEmpty() ? found : once;
	}

	private List<StoredTask> findAll(TaskId id, Kind kind) {
		return ids(id).stream().flatMap((each) -> this.parts.store().find(Target.of(each, kind)).stream()).toList();
	}

	/** Empty if no store can have such a task. */
	private List<TaskId> ids(TaskId id) {
		return TaskLimits.isStorable(id) ? this.parts.ids(id) : List.of();
	}

	/**
	 * The store knows the order of the two kinds for one name.
	 * @param change tells whether there was a task
	 */
	private boolean changeAll(TaskId id, Predicate<Target> change) {
		List<TaskId> ids = ids(id);
		return (ids.size() > 1 && changeAll(ids, Kind.ONCE, change)) || changeAll(ids, Kind.EITHER, change);
	}

	private static boolean changeAll(List<TaskId> ids, Kind kind, Predicate<Target> change) {
		return ids.stream().filter((id) -> change.test(Target.of(id, kind))).count() > 0;
	}

	boolean cancel(TaskId id) {
		if (this.transaction.isDeferred()) {
			return cancelAfterCommit(id, Kind.ONCE) || cancelAfterCommit(id, Kind.SCHEDULE);
		}
		return countCancelled(id.name(), changeAll(id, this.parts.store()::cancel));
	}

	/** Takes only the tasks that are pending now. */
	private boolean cancelAfterCommit(TaskId id, Kind kind) {
		Key key = this.transaction.key(id, kind);
		Effect earlier = this.transaction.earlier(key);
		if (earlier == Effect.CANCEL) {
			return false;
		}
		List<StoredTask> pending = findAll(id, kind);
		return (!pending.isEmpty() || earlier.leavesPending())
				&& this.transaction.defer(key, Effect.CANCEL, () -> cancelAll(id.name(), pending));
	}

	/** A cancellation for later, of what is pending now. */
	public Runnable cancellation(TaskId id) {
		List<StoredTask> pending = findAll(id);
		return () -> cancelAll(id.name(), pending);
	}

	private boolean cancelAll(String name, List<StoredTask> tasks) {
		return countCancelled(name,
				tasks.stream().filter((task) -> this.parts.store().cancel(Target.of(task.id()))).count() > 0);
	}

	public boolean cancel(String name, String id) {
		BooleanSupplier change = () -> countCancelled(name, this.parts.store().cancel(Target.of(id)));
		if (!this.transaction.isDeferred()) {
			return change.getAsBoolean();
		}
		StoredTask task = findUnlessReplaced(id);
		if (task == null || (!task.state().isPending() && task.schedule() == null)) {
			return false;
		}
		Key key = key(task);
		// An earlier call that waits to store a task with this key stays: it did not make
		// this task pending.
		return this.transaction.defer((this.transaction.earlier(key) == Effect.NONE) ? key : null, Effect.CANCEL,
				change);
	}

	private boolean countCancelled(String name, boolean cancelled) {
		if (cancelled) {
			this.transaction.count(name, TaskOutcome.CANCELLED);
		}
		return cancelled;
	}

	/** A task that no earlier call of the transaction is going to cancel or replace. */
	private @Nullable StoredTask findUnlessReplaced(String id) {
		StoredTask task = find(id).orElse(null);
		Effect earlier = (task != null) ? this.transaction.earlier(key(task)) : Effect.NONE;
		return (earlier != Effect.CANCEL && earlier != Effect.REPLACE) ? task : null;
	}

	private @Nullable Key key(StoredTask task) {
		String key = task.key();
		return (key != null) ? this.transaction.key(new TaskId(task.name(), key),
				(task.schedule() != null) ? Kind.SCHEDULE : Kind.ONCE) : null;
	}

	/**
	 * @param restore runs after a rollback to a savepoint from before this call
	 */
	void withdrawn(String name, Runnable restore) {
		this.transaction.count(name, TaskOutcome.CANCELLED, restore);
	}

	void onRollback(Runnable action) {
		this.transaction.onRollback(action);
	}

	boolean reschedule(TaskId id, Duration delay) {
		DueTime due = DueTime.after(delay);
		return changePending(() -> isPending(id, Kind.ONCE) || isPending(id, Kind.SCHEDULE),
				() -> changeAll(id, (target) -> move(target, due) != null));
	}

	public boolean reschedule(String id, Duration delay) {
		DueTime due = DueTime.after(delay);
		return changePending(() -> isPending(id), () -> move(Target.of(id), due) != null);
	}

	boolean reschedule(Handle task, Duration delay) {
		DueTime due = DueTime.after(delay);
		long before = task.dueAt().toEpochMilli();
		return changePending(() -> task.isWaiting() || isPending(task.id()), () -> {
			Moved moved = move(Target.of(task.id()), due);
			if (moved == null) {
				return false;
			}
			task.moved(moved.dueAt());
			onRollback(() -> task.moved(before));
			return true;
		});
	}

	/**
	 * @param pending whether there is something to change after the commit
	 */
	private boolean changePending(BooleanSupplier pending, BooleanSupplier change) {
		return this.transaction.isDeferred()
				? pending.getAsBoolean() && this.transaction.defer(null, Effect.NONE, change) : change.getAsBoolean();
	}

	/** Whether a task is pending after the earlier calls of the transaction. */
	private boolean isPending(TaskId id, Kind kind) {
		Effect earlier = this.transaction.earlier(this.transaction.key(id, kind));
		return (earlier == Effect.NONE) ? findAll(id, kind).stream().anyMatch((task) -> task.state().isPending())
				: earlier.leavesPending();
	}

	private boolean isPending(String id) {
		StoredTask task = findUnlessReplaced(id);
		return task != null && task.state().isPending();
	}

	private @Nullable Moved move(Target target, DueTime due) {
		Moved moved = this.parts.store().move(target, due);
		if (moved != null) {
			this.transaction.expect(moved.name(), moved.dueAt(), moved.now());
		}
		return moved;
	}

}

package io.timingwheel.spring.durable.call;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

import io.timingwheel.spring.durable.store.DelayedTaskStore.Moved;
import io.timingwheel.spring.durable.store.DueTime;
import io.timingwheel.spring.durable.store.StoredTask;
import io.timingwheel.spring.durable.store.Target;
import io.timingwheel.spring.durable.store.Target.Kind;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.internal.TaskRecorder.TaskOutcome;
import io.timingwheel.spring.task.internal.Transactions;
import io.timingwheel.spring.task.internal.Transactions.DeferredCall;
import io.timingwheel.spring.task.internal.Transactions.DeferredCall.Effect;
import org.jspecify.annotations.Nullable;

/**
 * Finds, cancels and moves pending tasks by their ids, or by keys under all names of a
 * method. For each name, a key means the task that runs once or, if there is none, the
 * schedule. Thread-safe.
 */
abstract class PendingTasks {

	final StoreAccess access;

	PendingTasks(StoreAccess access) {
		this.access = access;
	}

	public Optional<StoredTask> findStored(TaskId id) {
		return findAll(id, Kind.EITHER).findFirst();
	}

	public Optional<DelayedTask<?>> find(TaskId id) {
		return findStored(id).map(this::handle);
	}

	public Optional<StoredTask> findStored(String id) {
		return this.access.store().find(Target.of(id));
	}

	public DelayedTask<@Nullable Void> handle(StoredTask task) {
		return new Handle(this, task.name(), task.key(), Handle.State.STORED, task.id(), task.dueAt());
	}

	private Stream<StoredTask> findAll(TaskId id, Kind kind) {
		return this.access.find(this.access.targets(id, kind));
	}

	public boolean cancel(TaskId id) {
		if (this.access.isDeferred()) {
			return cancelAfterCommit(id, Kind.ONCE) || cancelAfterCommit(id, Kind.SCHEDULE);
		}
		return cancel(id.name(), this.access.targets(id, Kind.EITHER));
	}

	private boolean cancel(String name, List<Target> targets) {
		boolean cancelled = targets.stream().filter(this.access.store()::cancel).count() > 0;
		if (cancelled) {
			this.access.count(name, TaskOutcome.CANCELLED);
		}
		return cancelled;
	}

	/** Changes a task after the commit. */
	private static boolean defer(@Nullable Target key, Effect effect, Runnable change) {
		Transactions.defer(new DeferredCall(key, effect) {

			@Override
			public void commit() {
				change.run();
			}

		});
		return true;
	}

	/** Takes only the tasks that are pending now. */
	private boolean cancelAfterCommit(TaskId id, Kind kind) {
		Target key = this.access.key(id.name(), id.key(), kind);
		Effect earlier = Transactions.earlier(key);
		List<Target> pending = (earlier != Effect.CANCEL)
				? findAll(id, kind).map((task) -> Target.of(task.id())).toList() : List.of();
		return (earlier.leavesPending() || !pending.isEmpty())
				&& defer(key, Effect.CANCEL, () -> cancel(id.name(), pending));
	}

	boolean cancel(String name, String id) {
		List<Target> target = List.of(Target.of(id));
		if (!this.access.isDeferred()) {
			return cancel(name, target);
		}
		return findUntouched(id).filter((stored) -> stored.state().isPending() || stored.schedule() != null)
			.filter((stored) -> defer(key(stored), Effect.CANCEL, () -> cancel(name, target)))
			.isPresent();
	}

	/** A task whose key no earlier call of the transaction is about. */
	private Optional<StoredTask> findUntouched(String id) {
		return findStored(id).filter((task) -> Transactions.earlier(key(task)) == Effect.NONE);
	}

	private @Nullable Target key(StoredTask task) {
		return this.access.key(task.name(), task.key(), (task.schedule() != null) ? Kind.SCHEDULE : Kind.ONCE);
	}

	public boolean reschedule(TaskId id, Duration delay) {
		DueTime due = DueTime.after(delay);
		if (!this.access.isDeferred()) {
			return move(id, due);
		}
		return (isPending(id, Kind.ONCE) || isPending(id, Kind.SCHEDULE))
				&& defer(null, Effect.NONE, () -> move(id, due));
	}

	private boolean move(TaskId id, DueTime due) {
		return this.access.targets(id, Kind.EITHER).stream().filter((target) -> move(target, due) != null).count() > 0;
	}

	/** Whether a task is pending after the earlier calls of the transaction. */
	private boolean isPending(TaskId id, Kind kind) {
		Effect earlier = Transactions.earlier(this.access.key(id.name(), id.key(), kind));
		return (earlier == Effect.NONE) ? findAll(id, kind).anyMatch((task) -> task.state().isPending())
				: earlier.leavesPending();
	}

	boolean reschedule(Handle task, Duration delay) {
		DueTime due = DueTime.after(delay);
		if (!this.access.isDeferred()) {
			return move(task, due);
		}
		boolean pending = task.is(Handle.State.WAITING)
				|| findUntouched(task.id()).filter((stored) -> stored.state().isPending()).isPresent();
		return pending && defer(null, Effect.NONE, () -> move(task, due));
	}

	private boolean move(Handle task, DueTime due) {
		Instant before = task.dueAt();
		Moved moved = move(Target.of(task.id()), due);
		if (moved != null) {
			task.moved(Instant.ofEpochMilli(moved.dueAt()));
			Transactions.onRollback(() -> task.moved(before));
		}
		return moved != null;
	}

	private @Nullable Moved move(Target target, DueTime due) {
		Moved moved = this.access.store().move(target, due);
		if (moved != null) {
			this.access.expect(moved.name(), moved.dueAt() - moved.now());
		}
		return moved;
	}

}

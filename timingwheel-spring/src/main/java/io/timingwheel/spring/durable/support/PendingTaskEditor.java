package io.timingwheel.spring.durable.support;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.DueTime;
import io.timingwheel.spring.durable.LeaseOffer;
import io.timingwheel.spring.durable.Rescheduled;
import io.timingwheel.spring.durable.StoredTask.State;
import io.timingwheel.spring.durable.StoredTask;
import io.timingwheel.spring.durable.TaskLimits;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.support.DelayedTaskRegistry;
import io.timingwheel.spring.task.support.TaskOutcome;
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

	PendingTaskEditor(DelayedTaskStore store, CallerTransaction transaction, DurableHandlerRegistry handlers,
			DelayedTaskRegistry tasks, TaskIntake intake, StoreClock clock) {
		this.store = store;
		this.transaction = transaction;
		this.handlers = handlers;
		this.tasks = tasks;
		this.intake = intake;
		this.clock = clock;
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
		return this.transaction.change(() -> {
			boolean cancelled = false;
			for (TaskId each : ids(id)) {
				cancelled |= this.store.cancel(each);
			}
			return countCancelled(cancelled, id.name());
		}, () -> find(id).isPresent());
	}

	boolean cancel(String name, String id) {
		return this.transaction.change(() -> countCancelled(this.store.cancel(id), name), () -> isPending(id));
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
		return this.transaction.change(
				() -> ids(id).stream()
					.anyMatch((each) -> move(each.name(), due, (offer) -> this.store.reschedule(each, due, offer))),
				() -> find(id).isPresent());
	}

	boolean reschedule(String name, String id, Duration delay) {
		DueTime due = DueTime.after(delay);
		return this.transaction.change(() -> move(name, due, (offer) -> this.store.reschedule(id, due, offer)),
				() -> isPending(id));
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
		}
		return moved != null;
	}

	private void accept(Rescheduled moved, long ahead) {
		if (moved.leased()) {
			this.transaction.onceCertain(() -> this.intake.accept(moved.task(), LeaseTerm.NONE, ahead),
					() -> this.intake.withdrawOffers(1));
		}
	}

	private boolean isPending(String id) {
		return this.store.find(id).filter((task) -> task.state() == State.PENDING).isPresent();
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

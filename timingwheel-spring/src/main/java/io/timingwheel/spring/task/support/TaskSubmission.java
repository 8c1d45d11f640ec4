package io.timingwheel.spring.task.support;

import java.util.concurrent.CompletableFuture;

import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DuplicateTaskException;
import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.TaskId;
import org.jspecify.annotations.Nullable;

import org.springframework.core.task.TaskRejectedException;

/**
 * What is to be scheduled, with the context of the thread that made it by
 * {@link DelayedTaskRegistry#submission}. To be scheduled once, at once or later.
 */
public final class TaskSubmission {

	private final TaskDefinition<?> definition;

	private final IfPending ifPending;

	private final Object payload;

	private final boolean givesResult;

	private final long sequence;

	private final Object slot;

	/** The result, as soon as somebody can have asked for it. */
	private @Nullable TaskFuture<?> future;

	private boolean replacing;

	private @Nullable TaskFuture<?> replaced;

	TaskSubmission(TaskDefinition<?> definition, @Nullable Object key, IfPending ifPending, Object payload,
			boolean givesResult, long sequence) {
		this.definition = definition;
		this.ifPending = ifPending;
		this.payload = payload;
		this.givesResult = givesResult;
		this.sequence = sequence;
		this.slot = definition.tasks()
			.slot(definition.name(), (key != null) ? TaskKeys.of(key) : new TaskKeys.Unkeyed(sequence));
	}

	/**
	 * The result of a task that is scheduled later; meanwhile it can be cancelled.
	 * @param due when the task is going to be due, roughly
	 * @return the task
	 */
	public DelayedTask<?> resultOf(Deadline due) {
		TaskFuture<?> future = newFuture(due);
		this.future = future;
		return future;
	}

	/**
	 * Schedules the task.
	 * @param due when it is due
	 * @return the task, or the one that it was kept back for; {@code null} if no result
	 * was asked for
	 * @throws DuplicateTaskException if another is pending and this is to be rejected
	 * @throws TaskRejectedException after shutdown, or if too many tasks are pending;
	 * nothing has changed then
	 */
	public @Nullable DelayedTask<?> schedule(Deadline due) {
		DelayedTaskRegistry owner = this.definition.tasks().owner();
		owner.checkAccepting(this.definition.name());
		TaskFuture<?> deferred = this.future;
		if (deferred != null && deferred.isDone()) {
			return deferred;
		}
		// An executor that cannot be had is the caller's problem, not the wheel's.
		this.definition.executor();
		PendingTask task = this.definition.tasks().pending().compute(this.slot, (slot, current) -> place(current, due));
		finishReplacement();
		if (!owner.isAccepting()) {
			// Whoever shuts down may have passed by before the task was in the map.
			this.definition.tasks().cancel(this.slot, task.future());
			owner.checkAccepting(this.definition.name());
		}
		if (deferred != null) {
			follow(deferred);
			return deferred;
		}
		return this.future;
	}

	/**
	 * Gives up: the result, if one was asked for, is cancelled.
	 */
	public void abandon() {
		if (this.future != null && this.future.cancelled()) {
			this.definition.tasks().count(TaskOutcome.CANCELLED);
		}
	}

	/**
	 * Gives up: the result, if one was asked for, is an exception.
	 * @param error why
	 * @return whether one was asked for
	 */
	public boolean fail(Throwable error) {
		if (this.future == null) {
			return false;
		}
		this.future.failed(error);
		return true;
	}

	/**
	 * Decides under the map's lock of the key what is pending from now on.
	 */
	private PendingTask place(@Nullable PendingTask current, Deadline due) {
		if (current == null) {
			return start(due);
		}
		return switch (this.ifPending) {
			case REPLACE -> replace(current, due);
			case KEEP -> keep(current);
			case REJECT -> throw new DuplicateTaskException(
					new TaskId(this.definition.name(), String.valueOf(TaskKeys.text(this.slot))));
		};
	}

	private PendingTask start(Deadline due) {
		PendingTask task = new PendingTask(this.slot, this.definition);
		task.start(due);
		task.assign(this.payload, futureOf(due), this.sequence);
		return task;
	}

	private PendingTask replace(PendingTask current, Deadline due) {
		TaskFuture<?> earlier = current.future();
		PendingTask task = current;
		if (current.move(this.definition, due)) {
			current.assign(this.payload, futureOf(due), this.sequence);
		}
		else {
			// Handed over, so that it holds no timer. Should the wheel refuse, it stays.
			task = start(due);
			current.forget();
		}
		this.replacing = true;
		this.replaced = earlier;
		return task;
	}

	private PendingTask keep(PendingTask current) {
		if (this.givesResult) {
			this.future = current.futureOrNew();
		}
		return current;
	}

	private @Nullable TaskFuture<?> futureOf(Deadline due) {
		if (this.givesResult && this.future == null) {
			this.future = newFuture(due);
		}
		return this.future;
	}

	private TaskFuture<?> newFuture(Deadline due) {
		return new TaskFuture<>(this.definition.tasks(), this.definition.name(), this.slot, this.sequence,
				due.epochNanos());
	}

	private void finishReplacement() {
		if (this.replacing) {
			this.definition.tasks().count(TaskOutcome.REPLACED);
			if (this.replaced != null) {
				this.replaced.replaced();
				this.replaced = null;
			}
		}
	}

	/**
	 * Settles a result that was given out before the task was scheduled.
	 */
	@SuppressWarnings("unchecked")
	private void follow(TaskFuture<?> deferred) {
		TaskFuture<?> actual = this.future;
		if (actual != null && actual != deferred) {
			((CompletableFuture<Object>) actual).whenComplete((value, error) -> {
				if (error != null) {
					deferred.failed(error);
				}
				else {
					deferred.succeeded(value);
				}
			});
		}
		else if (deferred.isDone()) {
			// Called off while it was being scheduled.
			this.definition.tasks().cancel(this.slot, deferred);
		}
	}

}

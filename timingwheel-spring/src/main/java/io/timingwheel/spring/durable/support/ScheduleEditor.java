package io.timingwheel.spring.durable.support;

import java.time.Duration;
import java.time.Instant;
import java.util.Objects;

import io.timingwheel.spring.durable.DelayedTaskStore.Kind;
import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.DueTime;
import io.timingwheel.spring.durable.Enqueued;
import io.timingwheel.spring.durable.NewSchedule;
import io.timingwheel.spring.task.Schedule;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.support.DeferredCall.Effect;
import io.timingwheel.spring.task.support.DelayedTaskRegistry;
import io.timingwheel.spring.task.support.TaskOutcome;
import io.timingwheel.spring.task.support.Transactions;
import org.jspecify.annotations.Nullable;

/**
 * Stores schedules in the caller's transaction. If the store takes no part in the
 * transaction, stores them after the commit. Thread-safe.
 */
final class ScheduleEditor {

	private final DelayedTaskStore store;

	private final CallerTransaction transaction;

	private final DurableHandlerRegistry handlers;

	private final DelayedTaskRegistry tasks;

	private final Runnable onSoon;

	private final long soonMillis;

	/**
	 * Creates an editor.
	 * @param store the store
	 * @param transaction the transaction of the calling thread
	 * @param handlers know the earlier names
	 * @param tasks counts the tasks by their names
	 * @param onSoon called when a run is due before this node would poll
	 * @param pollInterval the longest time between two polls of this node
	 */
	ScheduleEditor(DelayedTaskStore store, CallerTransaction transaction, DurableHandlerRegistry handlers,
			DelayedTaskRegistry tasks, Runnable onSoon, Duration pollInterval) {
		this.store = store;
		this.transaction = transaction;
		this.handlers = handlers;
		this.tasks = tasks;
		this.onSoon = onSoon;
		this.soonMillis = pollInterval.toMillis();
	}

	/**
	 * Stores a schedule of the application.
	 */
	void recur(DurableSubmission submission, Schedule schedule) {
		Transactions.runReady();
		if (!this.transaction.isDeferred()) {
			store(submission, schedule, null);
			this.transaction.onRollback(submission.task()::abandon);
			return;
		}
		deferOverride(submission);
		this.transaction.defer(() -> {
			if (submission.task().beginStoring()) {
				try {
					store(submission, schedule, null);
				}
				catch (RuntimeException ex) {
					submission.failed(ex);
				}
			}
		}, submission.task()::abandon);
	}

	/**
	 * Keeps a schedule from being stored if a later call of the transaction cancels or
	 * replaces it. In a store a schedule that is replaced does not count.
	 */
	private void deferOverride(DurableSubmission submission) {
		TaskId id = new TaskId(this.handlers.canonicalName(submission.name()), key(submission));
		this.transaction.deferOverride(this.transaction.key(id, Kind.SCHEDULE), Effect.REPLACE, submission.task(),
				(later) -> {
					if (later == Effect.CANCEL) {
						this.tasks.recorder(id.name()).count(TaskOutcome.CANCELLED);
					}
				});
	}

	private static String key(DurableSubmission submission) {
		return Objects.requireNonNull(submission.task().key());
	}

	/**
	 * Stores a schedule, unless the store has the same.
	 * @param initialDelay how long the first run is from now, {@code null} for the first
	 * time of the schedule
	 */
	void store(DurableSubmission submission, Schedule schedule, @Nullable Duration initialDelay) {
		DurableTaskHandle task = submission.task();
		Enqueued stored = this.store.recur(new NewSchedule(task.id(), task.name(), key(submission),
				submission.payload(), null, schedule.toString(), first(schedule, initialDelay)));
		task.stored(stored.id(), stored.dueAt());
		if (stored.dueAt() - stored.now() < this.soonMillis) {
			this.transaction.onceCertain(this.onSoon);
		}
	}

	private DueTime first(Schedule schedule, @Nullable Duration initialDelay) {
		if (initialDelay != null) {
			return DueTime.after(initialDelay);
		}
		if (schedule.isCron()) {
			return DueTime
				.at(Objects.requireNonNull(schedule.next(Instant.ofEpochMilli(this.store.now())), schedule::toString));
		}
		return DueTime.after(Duration.between(Instant.EPOCH, Objects.requireNonNull(schedule.next(Instant.EPOCH))));
	}

}

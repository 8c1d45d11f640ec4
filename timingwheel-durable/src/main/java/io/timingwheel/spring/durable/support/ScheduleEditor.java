package io.timingwheel.spring.durable.support;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;

import io.timingwheel.spring.durable.DelayedTaskStore.Kind;
import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.DueTime;
import io.timingwheel.spring.durable.Enqueued.Outcome;
import io.timingwheel.spring.durable.Enqueued;
import io.timingwheel.spring.durable.NewSchedule;
import io.timingwheel.spring.durable.Rescheduled;
import io.timingwheel.spring.durable.StoredSchedule;
import io.timingwheel.spring.durable.StoredTask.State;
import io.timingwheel.spring.durable.StoredTask;
import io.timingwheel.spring.task.Schedule;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.internal.DeferredCall.Effect;
import io.timingwheel.spring.task.internal.TaskOutcome;
import io.timingwheel.spring.task.internal.Transactions;
import io.timingwheel.spring.task.support.DelayedTaskRegistry;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Stores schedules in the caller's transaction. If the store takes no part in the
 * transaction, stores them after the commit. A schedule also replaces the schedules with
 * its key under the earlier names of its handler. Thread-safe.
 */
final class ScheduleEditor {

	private static final Log logger = LogFactory.getLog(ScheduleEditor.class);

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
				storeAfterCommit(submission, schedule);
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

	private void storeAfterCommit(DurableSubmission submission, Schedule schedule) {
		try {
			store(submission, schedule, null);
		}
		catch (RuntimeException ex) {
			if (!submission.task().isStored()) {
				submission.failed(ex);
				return;
			}
			logger.error("The schedule was stored after the commit, but it may not have replaced the schedule under an"
					+ " earlier name", ex);
		}
	}

	private static String key(DurableSubmission submission) {
		return Objects.requireNonNull(submission.task().key());
	}

	/**
	 * Stores a schedule, unless the store has the same. Then ends the schedules with its
	 * key under earlier names, so that a failure in between leaves both schedules, not
	 * none.
	 * @param initialDelay how long the first run is from now, {@code null} for the first
	 * time of the schedule
	 */
	void store(DurableSubmission submission, Schedule schedule, @Nullable Duration initialDelay) {
		DurableTaskHandle task = submission.task();
		String key = key(submission);
		List<StoredTask> earlier = this.handlers.allNames(task.name())
			.stream()
			.skip(1)
			.flatMap((name) -> this.store.find(new TaskId(name, key), Kind.SCHEDULE).stream())
			.toList();
		DueTime first = next(schedule, earlier);
		Enqueued stored = this.store.recur(new NewSchedule(task.id(), task.name(), key, submission.payload(), null,
				schedule.toString(), (first != null) ? first : first(schedule, initialDelay)));
		long dueAt = keepDueTime(stored, schedule, earlier);
		task.stored(stored.id(), dueAt);
		earlier.forEach((old) -> this.store.cancel(new TaskId(old.name(), key), Kind.SCHEDULE));
		if (dueAt - stored.now() < this.soonMillis) {
			this.transaction.onceCertain(this.onSoon);
		}
	}

	/**
	 * Stores a declared schedule again if the store has lost it.
	 * @param call gives what to run
	 * @return whether the schedule was lost and is stored now
	 */
	boolean restore(Supplier<DurableSubmission> call, Schedule schedule, @Nullable Duration initialDelay) {
		DurableSubmission submission = call.get();
		DurableTaskHandle task = submission.task();
		String key = key(submission);
		if (this.store.find(new TaskId(task.name(), key), Kind.SCHEDULE).isPresent()) {
			return false;
		}
		if (schedule.isCron() && schedule.next(Instant.ofEpochMilli(this.store.now())) == null) {
			return false;
		}
		boolean lost = this.store.restore(new NewSchedule(task.id(), task.name(), key, submission.payload(), null,
				schedule.toString(), first(schedule, initialDelay)));
		if (lost) {
			this.onSoon.run();
		}
		return lost;
	}

	/**
	 * The next time of the same schedule under an earlier name.
	 * @param earlier the schedules under earlier names
	 * @return the time, {@code null} if none of them is the same
	 */
	private @Nullable DueTime next(Schedule schedule, List<StoredTask> earlier) {
		for (StoredTask task : earlier) {
			if (isSame(task, schedule)) {
				Instant time = Instant.ofEpochMilli(stored(task).scheduledAt());
				// The run under the earlier name goes on to its end.
				Instant next = (task.state() == State.RUNNING)
						? schedule.next(time, Instant.ofEpochMilli(this.store.now())) : time;
				return (next != null) ? DueTime.at(next) : null;
			}
		}
		return null;
	}

	/**
	 * Moves a new schedule to the due time of the pending run under an earlier name. A
	 * run of the same schedule may have been moved. A run of another schedule stays due
	 * if it is overdue, as if that schedule had the same name.
	 * @return when the schedule is due
	 */
	private long keepDueTime(Enqueued stored, Schedule schedule, List<StoredTask> earlier) {
		if (stored.outcome() != Outcome.INSERTED) {
			return stored.dueAt();
		}
		for (StoredTask task : earlier) {
			boolean same = isSame(task, schedule);
			boolean overdue = task.dueAt() <= stored.now() && stored.now() < stored.dueAt();
			if (task.state() == State.PENDING && (same || overdue)) {
				long dueAt = same ? task.dueAt() : Math.min(task.dueAt(), stored(task).scheduledAt());
				Rescheduled moved = (dueAt != stored.dueAt())
						? this.store.reschedule(stored.id(), DueTime.at(Instant.ofEpochMilli(dueAt)), null) : null;
				return (moved != null) ? moved.task().dueAt() : stored.dueAt();
			}
		}
		return stored.dueAt();
	}

	private static boolean isSame(StoredTask task, Schedule schedule) {
		return stored(task).text().equals(schedule.toString());
	}

	private static StoredSchedule stored(StoredTask task) {
		return Objects.requireNonNull(task.schedule());
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

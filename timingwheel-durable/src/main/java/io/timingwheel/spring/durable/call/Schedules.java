package io.timingwheel.spring.durable.call;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;

import io.timingwheel.spring.durable.call.CallerTransaction.Due;
import io.timingwheel.spring.durable.store.DueTime;
import io.timingwheel.spring.durable.store.Enqueued;
import io.timingwheel.spring.durable.store.Enqueued.Outcome;
import io.timingwheel.spring.durable.store.Moved;
import io.timingwheel.spring.durable.store.NewSchedule;
import io.timingwheel.spring.durable.store.StoredSchedule;
import io.timingwheel.spring.durable.store.StoredTask;
import io.timingwheel.spring.durable.store.StoredTask.State;
import io.timingwheel.spring.durable.store.Target;
import io.timingwheel.spring.durable.store.Target.Kind;
import io.timingwheel.spring.task.Schedule;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.internal.DeferredCall;
import io.timingwheel.spring.task.internal.TaskOutcome;
import io.timingwheel.spring.task.internal.Transactions;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Stores schedules in the caller's transaction. If the store takes no part in the
 * transaction, stores them after the commit. A schedule also replaces the schedules with
 * its key under the earlier names of its method. Thread-safe.
 */
final class Schedules {

	private static final Log logger = LogFactory.getLog(Schedules.class);

	private final CallParts parts;

	private final CallerTransaction transaction;

	Schedules(CallParts parts, CallerTransaction transaction) {
		this.parts = parts;
		this.transaction = transaction;
	}

	/**
	 * Stores a schedule of the application.
	 */
	void recur(Submission submission, Schedule schedule) {
		Transactions.runReady();
		if (this.transaction.isDeferred()) {
			Transactions.defer(new RecurCall(submission, schedule));
		}
		else {
			store(submission, schedule, null);
			this.transaction.onRollback(submission.task()::abandon);
		}
	}

	private static TaskId id(Submission submission) {
		return Objects.requireNonNull(submission.task().taskId());
	}

	/**
	 * Stores a schedule, unless the store has the same. Then ends the schedules with its
	 * key under earlier names, so that a failure in between leaves both schedules, not
	 * none.
	 * @param initialDelay how long the first run is from now, {@code null} for the first
	 * time of the schedule
	 */
	void store(Submission submission, Schedule schedule, @Nullable Duration initialDelay) {
		TaskId id = id(submission);
		List<StoredTask> earlier = this.parts.handlers()
			.allNames(id.name())
			.stream()
			.skip(1)
			.flatMap((name) -> this.parts.store().find(schedule(name, id)).stream())
			.toList();
		DueTime next = next(schedule, earlier);
		Enqueued stored = this.parts.store()
			.recur(newSchedule(submission, schedule, (next != null) ? next : first(schedule, initialDelay), false));
		long dueAt = keepDueTime(stored, schedule, earlier);
		submission.task().stored(stored.id(), dueAt);
		earlier.forEach((old) -> this.parts.store().cancel(schedule(old.name(), id)));
		this.transaction.expect(List.of(new Due(id.name(), dueAt)), stored.now());
	}

	private static Target schedule(String name, TaskId id) {
		return Target.of(new TaskId(name, id.key()), Kind.SCHEDULE);
	}

	private static NewSchedule newSchedule(Submission submission, Schedule schedule, DueTime first,
			boolean onlyIfLost) {
		TaskId id = id(submission);
		return new NewSchedule(submission.task().id(), id.name(), id.key(), submission.content().payload(), null,
				schedule.toString(), first, onlyIfLost);
	}

	/**
	 * Stores a declared schedule again if the store has lost it.
	 * @return whether the schedule was lost and is stored now
	 */
	boolean restore(Submission submission, Schedule schedule, @Nullable Duration initialDelay) {
		TaskId id = id(submission);
		if (this.parts.store().find(schedule(id.name(), id)).isPresent()) {
			return false;
		}
		if (schedule.isCron() && schedule.next(now()) == null) {
			return false;
		}
		Enqueued stored = this.parts.store()
			.recur(newSchedule(submission, schedule, first(schedule, initialDelay), true));
		if (stored.outcome() == Outcome.PENDING) {
			return false;
		}
		this.parts.node().expect(id.name(), stored.dueAt(), stored.now());
		return true;
	}

	private Instant now() {
		return Instant.ofEpochMilli(this.parts.store().now());
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
				Instant next = (task.state() == State.RUNNING) ? schedule.next(time, now()) : time;
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
			if (task.state().isPending() && (same || overdue)) {
				long dueAt = same ? task.dueAt() : Math.min(task.dueAt(), stored(task).scheduledAt());
				Moved moved = (dueAt != stored.dueAt())
						? this.parts.store().move(Target.of(stored.id()), DueTime.at(Instant.ofEpochMilli(dueAt)))
						: null;
				return (moved != null) ? moved.dueAt() : stored.dueAt();
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
			return DueTime.at(Objects.requireNonNull(schedule.next(now()), schedule::toString));
		}
		return DueTime.after(Duration.between(Instant.EPOCH, Objects.requireNonNull(schedule.next(Instant.EPOCH))));
	}

	/**
	 * A schedule that waits for the commit before it is stored, unless a later call of
	 * the transaction ends or replaces it.
	 */
	private final class RecurCall extends DeferredCall {

		private final Submission submission;

		private final Schedule schedule;

		RecurCall(Submission submission, Schedule schedule) {
			super(Schedules.this.transaction.key(id(submission), Kind.SCHEDULE), Effect.REPLACE);
			this.submission = submission;
			this.schedule = schedule;
		}

		@Override
		protected void commit() {
			if (!this.submission.task().beginStoring()) {
				return;
			}
			try {
				store(this.submission, this.schedule, null);
			}
			catch (RuntimeException ex) {
				if (!this.submission.task().isStored()) {
					this.submission.failed(ex);
					return;
				}
				logger.error("The schedule was stored after the commit, but it may not have replaced the schedule under"
						+ " an earlier name", ex);
			}
		}

		@Override
		protected void rollback() {
			this.submission.task().abandon();
		}

		/**
		 * In a store a schedule that is replaced does not count.
		 */
		@Override
		protected void override(Effect later) {
			if (this.submission.task().withdraw() && later == Effect.CANCEL) {
				Schedules.this.parts.recorder(this.submission.name()).count(TaskOutcome.CANCELLED);
			}
		}

	}

}

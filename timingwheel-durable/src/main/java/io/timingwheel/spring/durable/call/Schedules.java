package io.timingwheel.spring.durable.call;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;

import io.timingwheel.spring.durable.store.DueTime;
import io.timingwheel.spring.durable.store.Enqueued;
import io.timingwheel.spring.durable.store.Enqueued.Outcome;
import io.timingwheel.spring.durable.store.Moved;
import io.timingwheel.spring.durable.store.NewSchedule;
import io.timingwheel.spring.durable.store.NewTask;
import io.timingwheel.spring.durable.store.StoredSchedule;
import io.timingwheel.spring.durable.store.StoredTask;
import io.timingwheel.spring.durable.store.StoredTask.State;
import io.timingwheel.spring.durable.store.Target;
import io.timingwheel.spring.durable.store.Target.Kind;
import io.timingwheel.spring.task.Schedule;
import io.timingwheel.spring.task.TaskId;
import org.jspecify.annotations.Nullable;

/**
 * Stores schedules, each in place of those with its key under the earlier names of its
 * method. Thread-safe.
 */
final class Schedules {

	private final CallParts parts;

	private final CallerTransaction transaction;

	Schedules(CallParts parts, CallerTransaction transaction) {
		this.parts = parts;
		this.transaction = transaction;
	}

	void recur(Submission submission, Schedule schedule) {
		this.transaction.store(List.of(submission), Kind.SCHEDULE, (wanted) -> store(submission, schedule, null));
	}

	/**
	 * Ends the schedules under earlier names last, so that a failure in between leaves
	 * both, not none.
	 * @param initialDelay {@code null} for the first time of the schedule
	 */
	void store(Submission submission, Schedule schedule, @Nullable Duration initialDelay) {
		Handle task = submission.task();
		List<StoredTask> earlier = this.parts.handlers()
			.allNames(task.name())
			.stream()
			.skip(1)
			.flatMap((name) -> this.parts.store().find(target(name, task)).stream())
			.toList();
		DueTime next = next(schedule, earlier);
		DueTime first = (next != null) ? next : first(schedule, initialDelay);
		Enqueued stored = store(submission, schedule, Objects.requireNonNull(first, schedule::toString), false);
		long dueAt = keepDueTime(stored, schedule, earlier);
		task.stored(stored.id(), dueAt);
		earlier.forEach((old) -> this.parts.store().cancel(target(old.name(), task)));
		this.transaction.expect(task.name(), dueAt, stored.now());
	}

	private static Target target(String name, Handle task) {
		return Target.of(new TaskId(name, Objects.requireNonNull(task.key())), Kind.SCHEDULE);
	}

	private Enqueued store(Submission submission, Schedule schedule, DueTime first, boolean onlyIfLost) {
		NewTask task = submission.content();
		return this.parts.store()
			.recur(new NewSchedule(task.id(), task.name(), Objects.requireNonNull(task.key()), task.payload(), null,
					schedule.toString(), first, onlyIfLost));
	}

	/**
	 * Stores a declared schedule again if the store has lost it, and tells whether it
	 * had.
	 */
	boolean restore(Submission submission, Schedule schedule, @Nullable Duration initialDelay) {
		String name = submission.name();
		if (this.parts.store().find(target(name, submission.task())).isPresent()) {
			return false;
		}
		DueTime first = first(schedule, initialDelay);
		if (first == null) {
			return false;
		}
		Enqueued stored = store(submission, schedule, first, true);
		if (stored.outcome() == Outcome.PENDING) {
			return false;
		}
		this.transaction.expect(name, stored.dueAt(), stored.now());
		return true;
	}

	private Instant now() {
		return Instant.ofEpochMilli(this.parts.store().now());
	}

	/**
	 * The next time of the same schedule under an earlier name, {@code null} if there is
	 * none.
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
	 * Moves a new schedule to the due time of the pending run under an earlier name: a
	 * run of the same schedule may have been moved, and an overdue run of another one
	 * stays due.
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

	private @Nullable DueTime first(Schedule schedule, @Nullable Duration initialDelay) {
		if (initialDelay != null) {
			return DueTime.after(initialDelay);
		}
		Instant from = schedule.isCron() ? now() : Instant.EPOCH;
		Instant first = schedule.next(from);
		if (first == null) {
			return null;
		}
		return schedule.isCron() ? DueTime.at(first) : DueTime.after(Duration.between(from, first));
	}

}

package io.timingwheel.spring.durable.call;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;

import io.timingwheel.spring.durable.store.DueTime;
import io.timingwheel.spring.durable.store.Enqueued;
import io.timingwheel.spring.durable.store.Enqueued.Outcome;
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
 * Stores schedules, each in place of the one with its key under an earlier name of its
 * method. Thread-safe.
 */
final class Schedules {

	private final CallParts parts;

	Schedules(CallParts parts) {
		this.parts = parts;
	}

	void recur(Submission submission, Schedule schedule) {
		this.parts.store(List.of(submission), (wanted) -> store(submission, schedule, null));
	}

	/**
	 * Ends the schedules under earlier names last, so that a failure in between leaves
	 * both, not none.
	 * @param initialDelay {@code null} for the first time of the schedule
	 */
	void store(Submission submission, Schedule schedule, @Nullable Duration initialDelay) {
		Handle task = submission.task();
		List<Target> targets = this.parts.earlierNames(Objects.requireNonNull(task.taskId()), Kind.SCHEDULE);
		DueTime next = this.parts.find(targets).findFirst().map((earlier) -> next(earlier, schedule)).orElse(null);
		DueTime first = (next != null) ? next : first(schedule, initialDelay);
		Enqueued stored = store(submission, schedule, Objects.requireNonNull(first, schedule::toString), false);
		task.stored(stored.id(), stored.dueAt());
		targets.forEach(this.parts.store()::cancel);
		this.parts.expect(task.name(), stored.dueAt(), stored.now());
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
		TaskId id = Objects.requireNonNull(submission.task().taskId());
		DueTime first = this.parts.store().find(Target.of(id, Kind.SCHEDULE)).isEmpty() ? first(schedule, initialDelay)
				: null;
		Enqueued stored = (first != null) ? store(submission, schedule, first, true) : null;
		if (stored == null || stored.outcome() == Outcome.PENDING) {
			return false;
		}
		this.parts.expect(id.name(), stored.dueAt(), stored.now());
		return true;
	}

	private Instant now() {
		return Instant.ofEpochMilli(this.parts.store().now());
	}

	/**
	 * The next run of the same schedule under an earlier name, or the overdue run of
	 * another schedule. A run that has begun goes on to its end.
	 */
	private @Nullable DueTime next(StoredTask earlier, Schedule schedule) {
		StoredSchedule stored = Objects.requireNonNull(earlier.schedule());
		boolean same = stored.text().equals(schedule.toString());
		if (earlier.state() == State.RUNNING) {
			Instant next = same ? schedule.next(Instant.ofEpochMilli(stored.scheduledAt()), now()) : null;
			return (next != null) ? DueTime.at(next) : null;
		}
		Instant due = Instant.ofEpochMilli(earlier.dueAt());
		return (same || !due.isAfter(now())) ? DueTime.at(due) : null;
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

package io.timingwheel.spring.durable.call;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Supplier;

import io.timingwheel.spring.durable.store.DueTime;
import io.timingwheel.spring.durable.store.Enqueued;
import io.timingwheel.spring.durable.store.Enqueued.Outcome;
import io.timingwheel.spring.durable.store.NewSchedule;
import io.timingwheel.spring.durable.store.NewTask;
import io.timingwheel.spring.durable.store.StoredTask;
import io.timingwheel.spring.durable.store.Target;
import io.timingwheel.spring.durable.store.Target.Kind;
import io.timingwheel.spring.task.Schedule;
import io.timingwheel.spring.task.TaskId;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Stores schedules, each in place of the one with its key under an earlier name of its
 * method. Those that methods declare are stored once, after the start of the node, and
 * never changed again: a newer node may have changed them. Those that the store loses are
 * stored again. Thread-safe.
 */
public final class Schedules {

	private static final Log logger = LogFactory.getLog(Schedules.class);

	private final CallParts parts;

	private final Storing storing;

	private final List<Declared> declared = new ArrayList<>();

	private final Set<Declared> stored = new HashSet<>();

	private boolean warned;

	private boolean started;

	Schedules(CallParts parts, Storing storing) {
		this.parts = parts;
		this.storing = storing;
	}

	/**
	 * Stores the schedule of a method, once the node has started.
	 * @param initialDelay {@code null} for the first time of the schedule
	 */
	synchronized void declare(Supplier<Submission> call, Schedule schedule, @Nullable Duration initialDelay) {
		Declared one = new Declared(call, schedule, initialDelay);
		this.declared.add(one);
		if (this.started) {
			store(one);
		}
	}

	/** Stores all declared schedules, also those that are stored already. */
	public synchronized void store() {
		this.declared.forEach(this::store);
	}

	private void store(Declared one) {
		store(one.call.get(), one.schedule, one.initialDelay);
		this.stored.add(one);
	}

	/**
	 * Stores the declared schedules that are not stored yet, and those that the store has
	 * lost. If one fails, the others go on; but not the first time, since the start of
	 * the application waits.
	 * @return {@code false} if some schedules are not stored yet
	 */
	public synchronized boolean lookAfter() {
		this.started = true;
		List<String> lost = new ArrayList<>();
		for (Declared one : this.declared) {
			try {
				if (!this.stored.contains(one)) {
					store(one);
				}
				else if (restore(one)) {
					lost.add(one.call.get().content().name());
				}
			}
			catch (RuntimeException ex) {
				if (!this.warned && !this.stored.contains(one)) {
					this.warned = true;
					logger.warn("The schedules of the recurring tasks could not be stored; trying again until they are",
							ex);
					return false;
				}
				logger.debug("The schedule of a recurring task could not be stored or found; trying again later", ex);
			}
		}
		if (!lost.isEmpty()) {
			logger.warn("The store had lost the schedules of " + lost + ", and they are stored again. It may have"
					+ " lost other tasks too");
		}
		return this.stored.size() == this.declared.size();
	}

	/** Tells whether the store had lost the schedule. */
	private boolean restore(Declared one) {
		Submission submission = one.call.get();
		TaskId id = Objects.requireNonNull(submission.task().taskId());
		return this.parts.store().find(Target.of(id, Kind.SCHEDULE)).isEmpty()
				&& store(submission, one.schedule, first(one.schedule, one.initialDelay), true)
					.outcome() != Outcome.PENDING;
	}

	void recur(Submission submission, Schedule schedule) {
		this.storing.store(List.of(submission), (wanted) -> store(submission, schedule, null));
	}

	/**
	 * Ends the schedules under earlier names last, so that a failure in between leaves
	 * both, not none.
	 */
	private void store(Submission submission, Schedule schedule, @Nullable Duration initialDelay) {
		Handle task = submission.task();
		List<Target> targets = this.parts.earlierNames(task.taskId(), Kind.SCHEDULE);
		DueTime next = this.parts.find(targets).findFirst().map((earlier) -> next(earlier, schedule)).orElse(null);
		Enqueued stored = store(submission, schedule, (next != null) ? next : first(schedule, initialDelay), false);
		task.stored(stored.id(), stored.dueAt());
		targets.forEach(this.parts.store()::cancel);
	}

	private Enqueued store(Submission submission, Schedule schedule, @Nullable DueTime first, boolean onlyIfLost) {
		NewTask task = submission.content();
		Enqueued stored = this.parts.store()
			.recur(new NewSchedule(task.id(), task.name(), Objects.requireNonNull(task.key()), task.payload(), null,
					schedule.toString(), Objects.requireNonNull(first, schedule::toString), onlyIfLost));
		if (!stored.id().isEmpty()) {
			this.parts.expect(task.name(), stored.dueAt() - stored.now());
		}
		return stored;
	}

	private Instant now() {
		return Instant.ofEpochMilli(this.parts.store().now());
	}

	/**
	 * The next run of the same schedule under an earlier name, or the overdue run of
	 * another schedule.
	 */
	private @Nullable DueTime next(StoredTask earlier, Schedule schedule) {
		Instant due = Instant.ofEpochMilli(earlier.dueAt());
		boolean same = Objects.requireNonNull(earlier.schedule()).text().equals(schedule.toString());
		return (earlier.state().isPending() && (same || !due.isAfter(now()))) ? DueTime.at(due) : null;
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

	private record Declared(Supplier<Submission> call, Schedule schedule, @Nullable Duration initialDelay) {

	}

}

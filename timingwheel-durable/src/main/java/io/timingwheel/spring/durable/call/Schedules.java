package io.timingwheel.spring.durable.call;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Supplier;

import io.timingwheel.spring.durable.call.StoreAccess.Submission;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Enqueued;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Enqueued.Outcome;
import io.timingwheel.spring.durable.store.DueTime;
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

	private final StoreAccess access;

	private final List<Declared> declared = new ArrayList<>();

	private final Set<Declared> stored = new HashSet<>();

	private boolean started;

	Schedules(StoreAccess access) {
		this.access = access;
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
		store(one.call.get(), one.schedule, one.initialDelay, false);
		this.stored.add(one);
	}

	/**
	 * Stores the schedules that have been declared so far. Ends with the first that
	 * fails, since the start of the application waits.
	 */
	synchronized void start() {
		this.started = true;
		try {
			this.declared.stream().filter((one) -> !this.stored.contains(one)).forEach(this::store);
		}
		catch (RuntimeException ex) {
			logger.warn("The schedules of the recurring tasks could not be stored; trying again until they are", ex);
		}
	}

	/**
	 * Stores the declared schedules that are not stored yet, and those that the store has
	 * lost. If one fails, the others go on.
	 * @return {@code false} if some schedules are not stored yet
	 */
	public synchronized boolean lookAfter() {
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
		return this.access.store().find(Target.of(id, Kind.SCHEDULE)).isEmpty()
				&& store(submission, one.schedule, one.initialDelay, true).outcome() != Outcome.PENDING;
	}

	void recur(Submission submission, Schedule schedule) {
		this.access.store(List.of(submission),
				(wanted) -> wanted.forEach((each) -> store(each, schedule, null, false)));
	}

	/**
	 * Ends the schedules under earlier names last, so that a failure in between leaves
	 * both, not none.
	 */
	private Enqueued store(Submission submission, Schedule schedule, @Nullable Duration initialDelay,
			boolean onlyIfLost) {
		NewTask task = submission.content();
		List<Target> earlierNames = onlyIfLost ? List.of()
				: this.access.earlierNames(submission.task().taskId(), Kind.SCHEDULE);
		DueTime due = this.access.find(earlierNames)
			.findFirst()
			.map((earlier) -> next(earlier, schedule))
			.orElseGet(() -> first(schedule, initialDelay));
		Enqueued stored = this.access.store()
			.recur(new NewSchedule(task.id(), task.name(), Objects.requireNonNull(task.key()), task.payload(),
					schedule.toString(), due, onlyIfLost));
		submission.task().stored(stored.id(), stored.dueAt());
		if (!stored.id().isEmpty()) {
			this.access.expect(task.name(), stored.dueAt() - stored.now());
		}
		earlierNames.forEach(this.access.store()::cancel);
		return stored;
	}

	private Instant now() {
		return Instant.ofEpochMilli(this.access.store().now());
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

	private DueTime first(Schedule schedule, @Nullable Duration initialDelay) {
		if (initialDelay != null) {
			return DueTime.after(initialDelay);
		}
		Instant from = schedule.isCron() ? now() : Instant.EPOCH;
		Instant first = Objects.requireNonNull(schedule.next(from), schedule::toString);
		return schedule.isCron() ? DueTime.at(first) : DueTime.after(Duration.between(from, first));
	}

	private record Declared(Supplier<Submission> call, Schedule schedule, @Nullable Duration initialDelay) {

	}

}

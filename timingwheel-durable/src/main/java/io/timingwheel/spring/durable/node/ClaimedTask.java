package io.timingwheel.spring.durable.node;

import java.lang.reflect.Method;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.function.LongSupplier;

import io.timingwheel.spring.durable.store.DueTime;
import io.timingwheel.spring.durable.store.LeasedTask;
import io.timingwheel.spring.durable.store.Settlement;
import io.timingwheel.spring.durable.store.StoredSchedule;
import io.timingwheel.spring.task.Missed;
import io.timingwheel.spring.task.Schedule;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.internal.Recurrence;
import io.timingwheel.spring.task.internal.TaskExecution;
import org.jspecify.annotations.Nullable;

/** A claimed task, its body, and its times by the node's clock. */
abstract class ClaimedTask implements TaskExecution {

	final LeasedTask task;

	final DurableHandler handler;

	final long dueNanos;

	private final LongSupplier clock;

	/** {@code null} without one, or if this release does not know it. */
	private final @Nullable Schedule schedule;

	/**
	 * Too late to run. If the store found so, it did not count the task for its limits.
	 */
	volatile boolean expired;

	long startedNanos;

	long latenessNanos;

	/** Empty if they could not be read. */
	@Nullable Object[] arguments = {};

	ClaimedTask(LeasedTask task, DurableHandler handler, long dueNanos, LongSupplier clock) {
		this.task = task;
		this.handler = handler;
		this.dueNanos = dueNanos;
		this.clock = clock;
		this.schedule = known(task.schedule());
	}

	private static @Nullable Schedule known(@Nullable StoredSchedule stored) {
		try {
			return (stored != null) ? Schedule.parse(stored.text()) : null;
		}
		catch (IllegalArgumentException ex) {
			return null;
		}
	}

	/** This node cannot run the task: its schedule is of a newer release. */
	boolean hasUnknownSchedule() {
		return this.task.schedule() != null && this.schedule == null;
	}

	/** An unknown schedule may say what becomes of a late run. */
	boolean isTooLate(Duration missedAfter) {
		Duration lateness = Duration.ofNanos(Math.max(0, this.clock.getAsLong() - this.dueNanos));
		Duration expireAfter = this.handler.method().expireAfter();
		boolean skipped = this.task.schedule() != null && this.handler.missed() == Missed.SKIP && attempt() == 1
				&& deliveries() == 1 && lateness.compareTo(missedAfter) > 0;
		return !hasUnknownSchedule()
				&& (this.expired || skipped || (expireAfter != null && lateness.compareTo(expireAfter) > 0));
	}

	void readArguments() throws Exception {
		StoredSchedule stored = this.task.schedule();
		if (stored != null && this.schedule == null) {
			// Throws what is wrong.
			Schedule.parse(stored.text());
		}
		String payload = this.task.payload();
		if (payload == null) {
			throw new IllegalStateException(
					"The payload is larger than timingwheel.store.max-payload-size of this node");
		}
		this.arguments = this.handler.arguments().decode(payload);
	}

	@Nullable Object invoke() throws Throwable {
		return this.handler.method().body().invoke(this.arguments);
	}

	/**
	 * The end of a task, or of one run of a schedule.
	 * @param error why it is given up, {@code null} if it is not
	 */
	Settlement end(@Nullable String error) {
		if (this.schedule != null) {
			return repetition(this.task, this.schedule, this.handler.missed(), lateness(), storeTime(), error);
		}
		return (error != null) ? new Settlement.Bury(this.task.ref(), error)
				: new Settlement.Acknowledge(this.task.ref());
	}

	/**
	 * A further attempt may come after the next time of the schedule, since the request
	 * that stores it takes a while. It does not stand for that time.
	 * @param ended when this run has ended, by the store's clock
	 * @param error why the run is given up, {@code null} if it is not
	 */
	static Settlement.Repeat repetition(LeasedTask task, Schedule schedule, Missed missed, Duration lateness,
			Instant ended, @Nullable String error) {
		StoredSchedule stored = Objects.requireNonNull(task.schedule());
		Instant dueAt = Instant.ofEpochMilli(task.dueAt());
		Instant scheduledAt = Instant.ofEpochMilli(stored.scheduledAt());
		Instant firstDueAt = (task.attempt() > 1 && dueAt.isAfter(scheduledAt)) ? scheduledAt : dueAt;
		Instant next = new Recurrence(scheduledAt, firstDueAt, dueAt.plus(lateness)).next(schedule, missed, ended);
		DueTime due = (next == null) ? null
				: schedule.isFixedDelay() ? DueTime.after(Duration.between(ended, next)) : DueTime.at(next);
		return new Settlement.Repeat(task.ref(), stored.text(), due, error);
	}

	/** The time by the store's clock, as this node estimates it. */
	Instant storeTime() {
		return Instant.ofEpochMilli(this.task.dueAt()).plusNanos(this.clock.getAsLong() - this.dueNanos);
	}

	@Override
	public String name() {
		return this.handler.name();
	}

	@Override
	public String id() {
		return this.task.id();
	}

	@Override
	public @Nullable TaskId taskId() {
		String key = this.task.key();
		return (key != null) ? new TaskId(name(), key) : null;
	}

	/** The same for all attempts at a run, unless the schedule changes in between. */
	@Override
	public Instant dueAt() {
		StoredSchedule stored = this.task.schedule();
		return Instant
			.ofEpochMilli((stored != null) ? Math.min(stored.scheduledAt(), this.task.dueAt()) : this.task.dueAt());
	}

	@Override
	public Duration lateness() {
		return Duration.ofNanos(this.latenessNanos);
	}

	@Override
	public int attempt() {
		return this.task.attempt();
	}

	@Override
	public int deliveries() {
		return this.task.deliveries() + (this.task.begun() ? 0 : 1);
	}

	@Override
	public @Nullable String traceparent() {
		return this.task.traceparent();
	}

	@Override
	public Method method() {
		return this.handler.method().method();
	}

	@Override
	public String toString() {
		String key = this.task.key();
		return "\"" + name() + ((key != null) ? "/" + key : "") + "\" (id " + id() + ")";
	}

}

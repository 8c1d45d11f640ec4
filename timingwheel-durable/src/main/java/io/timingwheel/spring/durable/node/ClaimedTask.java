package io.timingwheel.spring.durable.node;

import java.lang.reflect.Method;
import java.time.Duration;
import java.time.Instant;
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

	private final @Nullable RecurringRun recurring;

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
		this.recurring = RecurringRun.of(task, handler.missed());
	}

	/** This node cannot run the task: its schedule is of a newer release. */
	boolean hasUnknownSchedule() {
		return this.task.schedule() != null && this.recurring == null;
	}

	/** An unknown schedule may say what becomes of a late run. */
	boolean isTooLate(Duration missedAfter) {
		Duration lateness = Duration.ofNanos(Math.max(0, this.clock.getAsLong() - this.dueNanos));
		Duration expireAfter = this.handler.method().expireAfter();
		boolean skipped = this.recurring != null && attempt() == 1 && deliveries() == 1
				&& this.recurring.isSkipped(lateness, missedAfter);
		return !hasUnknownSchedule()
				&& (this.expired || skipped || (expireAfter != null && lateness.compareTo(expireAfter) > 0));
	}

	void readArguments() throws Exception {
		if (this.recurring == null && this.task.schedule() != null) {
			// Throws what is wrong.
			Schedule.parse(this.task.schedule().text());
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
		if (this.recurring != null) {
			return this.recurring.end(lateness(), storeTime(), error);
		}
		return (error != null) ? new Settlement.Bury(this.task.ref(), error)
				: new Settlement.Acknowledge(this.task.ref());
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

	@Override
	public Instant dueAt() {
		return (this.recurring != null) ? this.recurring.dueAt() : Instant.ofEpochMilli(this.task.dueAt());
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

	/** Which time of a schedule a run has, and when the next run is due. */
	record RecurringRun(LeasedTask task, StoredSchedule stored, Schedule schedule, Missed missed) {

		/**
		 * @return {@code null} if the task is not recurring, or this release does not
		 * know such a schedule
		 */
		static @Nullable RecurringRun of(LeasedTask task, Missed missed) {
			StoredSchedule stored = task.schedule();
			try {
				return (stored != null) ? new RecurringRun(task, stored, Schedule.parse(stored.text()), missed) : null;
			}
			catch (IllegalArgumentException ex) {
				return null;
			}
		}

		/** The same for all attempts at a run, unless the schedule changes in between. */
		Instant dueAt() {
			return Instant.ofEpochMilli(Math.min(this.stored.scheduledAt(), this.task.dueAt()));
		}

		/** Whether the schedule leaves this run out, since its time has passed. */
		boolean isSkipped(Duration lateness, Duration missedAfter) {
			return this.missed == Missed.SKIP && lateness.compareTo(missedAfter) > 0;
		}

		/**
		 * A further attempt may come after the next time of the schedule, since the
		 * request that stores it takes a while. It does not stand for that time.
		 * @param ended when this run has ended, by the store's clock
		 * @param error why the run is given up, {@code null} if it is not
		 */
		Settlement.Repeat end(Duration lateness, Instant ended, @Nullable String error) {
			Instant dueAt = Instant.ofEpochMilli(this.task.dueAt());
			Instant scheduledAt = Instant.ofEpochMilli(this.stored.scheduledAt());
			Instant firstDueAt = (this.task.attempt() > 1 && dueAt.isAfter(scheduledAt)) ? scheduledAt : dueAt;
			Instant next = new Recurrence(scheduledAt, firstDueAt, dueAt.plus(lateness)).next(this.schedule,
					this.missed, ended);
			DueTime due = (next == null) ? null
					: this.schedule.isFixedDelay() ? DueTime.after(Duration.between(ended, next)) : DueTime.at(next);
			return new Settlement.Repeat(this.task.ref(), this.stored.text(), due, error);
		}

	}

}

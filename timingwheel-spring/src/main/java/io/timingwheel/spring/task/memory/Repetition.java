package io.timingwheel.spring.task.memory;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

import io.timingwheel.spring.task.Missed;
import io.timingwheel.spring.task.Schedule;
import io.timingwheel.spring.task.internal.Recurrence;
import io.timingwheel.spring.task.internal.UserErrors;
import io.timingwheel.spring.task.memory.TaskClock.Deadline;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.core.task.TaskRejectedException;

/**
 * The payload of a repeating task, and the times of its runs. A cron expression goes by
 * the wall clock, periods go by the wheel's clock. The map's lock of the key guards all
 * fields.
 */
final class Repetition {

	private static final Log logger = LogFactory.getLog(Repetition.class);

	private static final long RETRY_MILLIS = 100;

	private final NamedTasks tasks;

	final Envelope envelope;

	final Schedule schedule;

	private final Missed missed;

	private final boolean endsWithFailure;

	boolean running;

	/** The time of the current run by the schedule. */
	private Instant scheduledAt = Instant.EPOCH;

	private Instant startedAt = Instant.EPOCH;

	Repetition(Object payload, TaskDefinition definition, Schedule schedule, Missed missed) {
		this.tasks = definition.tasks;
		this.envelope = Envelope.of(Envelope.seal(payload, definition));
		this.schedule = schedule;
		this.missed = missed;
		this.endsWithFailure = definition.showsErrors();
	}

	Deadline first(@Nullable Duration initialDelay) {
		Deadline first = (initialDelay != null) ? clock().after(initialDelay) : next(this.schedule.next(now()));
		this.scheduledAt = time(first.dueNanos(), first.epochNanos());
		return first;
	}

	void begin() {
		setRunning(true);
		this.startedAt = now();
	}

	/** During a run the task is in the map, and does not count as pending. */
	void setRunning(boolean running) {
		if (this.running != running) {
			this.running = running;
			this.tasks.repeatingRuns.add(running ? 1 : -1);
		}
	}

	/**
	 * Schedules another attempt at a run; {@code false} if the next run comes first, or
	 * the task has ended.
	 */
	boolean triesAgain(PendingTask task, Deadline due) {
		// The attempt may begin as soon as the lock is free.
		return Boolean.TRUE.equals(this.tasks.read(task.slot, (current) -> {
			Instant next = nextTime(task);
			boolean again = current == task && (next == null || time(due.dueNanos(), due.epochNanos()).isBefore(next));
			if (again) {
				task.start(due);
				setRunning(false);
				this.envelope.attempt++;
			}
			return again;
		}));
	}

	/**
	 * Schedules the next run; {@code false} if the task has ended.
	 * @param error the exception of the run that ends
	 */
	boolean goesOn(PendingTask task, @Nullable TaskFuture<?> future, @Nullable Throwable error) {
		if (error == null || !this.endsWithFailure) {
			if (future != null) {
				future.waiting();
			}
			scheduleNextRun(task, future);
			return true;
		}
		this.tasks.update(task, (current) -> {
			current.forget();
			return false;
		});
		if (future == null || !future.isDone()) {
			logger.warn("The repeating task \"" + this.tasks.name + "\" does not run again, since it threw: "
					+ UserErrors.describe(error));
		}
		return false;
	}

	private void scheduleNextRun(PendingTask task, @Nullable TaskFuture<?> future) {
		try {
			if (!this.tasks.update(task, this::startNextRun) && future != null) {
				// The shutdown has let the task end with this run.
				future.cancelled();
			}
		}
		catch (TaskRejectedException ex) {
			scheduleNextRunLater(task, future);
			return;
		}
		this.tasks.cancelIfTooLate(task.slot, task.sequence, task.dueNanos);
	}

	private boolean startNextRun(PendingTask task) {
		task.start(next(nextTime(task)));
		setRunning(false);
		this.envelope.attempt = 1;
		return true;
	}

	/** The wheel is full, or the shutdown has begun. */
	private void scheduleNextRunLater(PendingTask task, @Nullable TaskFuture<?> future) {
		if (!this.tasks.shutdown().accepting) {
			this.tasks.cancel(task.slot, (pending) -> pending == task);
			return;
		}
		Executor completions = this.tasks.environment.handOvers().completions();
		CompletableFuture.delayedExecutor(RETRY_MILLIS, TimeUnit.MILLISECONDS, completions)
			.execute(() -> scheduleNextRun(task, future));
	}

	/** The due time of a task that waits, after somebody has set the wall clock. */
	Deadline dueAnew(PendingTask task) {
		long now = clock().nanoTime();
		return this.schedule.isCron() ? next(this.schedule.next(now())) : clock().within(now, task.dueNanos - now);
	}

	/**
	 * When the next run is due; {@code null} during a run. Operators read this without
	 * the lock.
	 */
	@Nullable Instant nextRun(long dueEpochNanos) {
		return this.running ? null : TaskClock.toInstant(dueEpochNanos);
	}

	private @Nullable Instant nextTime(PendingTask task) {
		return new Recurrence(this.scheduledAt, time(task.dueNanos, task.dueEpochNanos), this.startedAt)
			.next(this.schedule, this.missed, now());
	}

	/** A schedule that has no further time does not end: its next run is never due. */
	private Deadline next(@Nullable Instant next) {
		if (next == null) {
			return clock().after(ChronoUnit.FOREVER.getDuration());
		}
		this.scheduledAt = next;
		return deadline(next);
	}

	private Instant now() {
		long now = clock().nanoTime();
		return time(now, clock().epochNanos(now));
	}

	private Instant time(long nanos, long epochNanos) {
		return TaskClock.toInstant(this.schedule.isCron() ? epochNanos : nanos);
	}

	private Deadline deadline(Instant time) {
		if (this.schedule.isCron()) {
			return clock().at(time);
		}
		long now = clock().nanoTime();
		return clock().within(now, TaskClock.nanos(Duration.between(TaskClock.toInstant(now), time)));
	}

	private TaskClock clock() {
		return this.tasks.environment.clock();
	}

}

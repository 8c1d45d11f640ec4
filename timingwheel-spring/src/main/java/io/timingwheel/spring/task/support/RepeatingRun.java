package io.timingwheel.spring.task.support;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import io.timingwheel.spring.task.internal.FutureCompletion;
import io.timingwheel.spring.task.internal.TaskOutcome;
import io.timingwheel.spring.task.internal.UserErrors;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.core.task.TaskRejectedException;

/**
 * What follows the body in a run of a repeating task: another attempt at the run, the
 * next run, or the end of the task. The task stays in the map until it ends, unless
 * somebody cancels or replaces it.
 */
final class RepeatingRun {

	private static final Log logger = LogFactory.getLog(RepeatingRun.class);

	private static final long RETRY_MILLIS = 100;

	private final TaskRun run;

	private final PendingTask task;

	private final Repetition repetition;

	/** The payload without the captured context. */
	private final Object payload;

	private final NamedTasks tasks;

	private final @Nullable TaskFuture<?> future;

	/** Whether there is no further run. */
	private boolean last;

	RepeatingRun(TaskRun run, PendingTask task, Repetition repetition, Object payload) {
		this.run = run;
		this.task = task;
		this.repetition = repetition;
		this.payload = payload;
		this.tasks = run.tasks();
		this.future = run.future();
	}

	/**
	 * Ends the run, at once or when the future that the body returned is done.
	 */
	void finish() {
		boolean followed = this.run.followResult((value, error) -> {
			Throwable cause = FutureCompletion.unwrapped(error);
			if (cause != null) {
				this.run.handleError(cause, this.payload);
			}
			end();
		});
		if (!followed) {
			end();
		}
	}

	private void end() {
		try {
			this.run.reportTimes();
		}
		finally {
			this.run.giveBackPermit();
		}
		boolean seen = continueOrEnd();
		Throwable error = this.run.error();
		if (!seen && error != null) {
			this.run.callUnseenErrorHandler(error, this.payload);
		}
	}

	/**
	 * Schedules another attempt or the next run, or ends the task.
	 * @return whether anybody can see the exception
	 */
	private boolean continueOrEnd() {
		Throwable error = this.run.error();
		if (error != null && this.run.isUnhandled()) {
			if (tryAgain(error)) {
				return true;
			}
			this.run.callErrorHandler(error, this.payload);
		}
		this.tasks.recorder().ended((error != null) ? TaskOutcome.FAILED : TaskOutcome.COMPLETED);
		if (error != null && this.repetition.rhythm().endsWithFailure()) {
			return endTask(error);
		}
		if (this.future != null) {
			this.future.waiting();
		}
		scheduleNextRun();
		return error == null;
	}

	/**
	 * Schedules another attempt at a run that has failed, unless the next run comes
	 * first.
	 * @return {@code false} if there is no other attempt
	 */
	private boolean tryAgain(Throwable error) {
		Duration delay = this.run.backoff();
		if (this.future != null) {
			this.future.waiting();
		}
		AtomicBoolean again = new AtomicBoolean();
		try {
			this.tasks.pending().computeIfPresent(this.task.slot(), (slot, current) -> {
				if (current == this.task && this.repetition.tryAgain(current, delay, clock())) {
					again.setPlain(true);
					showDue();
				}
				return current;
			});
		}
		catch (TaskRejectedException ex) {
			error.addSuppressed(ex);
		}
		if (!again.getPlain()) {
			return false;
		}
		this.run.attemptFailed("recurring task", delay, error);
		heedShutdown();
		return true;
	}

	/**
	 * Ends the task with the exception of this run.
	 * @return whether anybody can see the exception
	 */
	private boolean endTask(Throwable error) {
		this.tasks.pending().remove(this.task.slot(), this.task);
		if (this.future == null || !this.future.isDone()) {
			logger.warn("The repeating task \"" + this.run.name() + "\" does not run again, since it threw: "
					+ UserErrors.describe(error));
		}
		return this.future != null && this.future.failed(error);
	}

	/**
	 * Schedules the next run, unless the task was cancelled or replaced during this one.
	 */
	private void scheduleNextRun() {
		try {
			this.tasks.pending().computeIfPresent(this.task.slot(), this::putOnWheel);
		}
		catch (TaskRejectedException ex) {
			scheduleNextRunLater();
			return;
		}
		if (this.last && this.future != null) {
			this.future.succeeded(null);
		}
		heedShutdown();
	}

	/**
	 * Puts the task on the wheel for its next run, or takes it out of the map, under the
	 * lock of its key.
	 */
	private @Nullable PendingTask putOnWheel(Object slot, PendingTask current) {
		if (current != this.task) {
			return current;
		}
		if (!this.repetition.scheduleNextRun(current, clock())) {
			this.last = true;
			return null;
		}
		showDue();
		return current;
	}

	/**
	 * Schedules the next run later, since the wheel has refused.
	 */
	private void scheduleNextRunLater() {
		if (this.tasks.environment().shutdown().isAccepting()) {
			// The wheel is full at the moment.
			CompletableFuture.delayedExecutor(RETRY_MILLIS, TimeUnit.MILLISECONDS, this.run.completions())
				.execute(this::scheduleNextRun);
		}
		else {
			cancel();
		}
	}

	/**
	 * Shows the new due time in the future.
	 */
	private void showDue() {
		if (this.future != null) {
			this.future.setDue(this.task.dueEpochNanos());
		}
	}

	/**
	 * Cancels the task if it must not run any more: the shutdown may have looked before
	 * the task was pending again.
	 */
	private void heedShutdown() {
		ShutdownState shutdown = this.tasks.environment().shutdown();
		if (!shutdown.mayRun(this.task.dueNanos())) {
			cancel();
		}
		shutdown.changed();
	}

	/**
	 * Cancels the task, but not one that has replaced it.
	 */
	private void cancel() {
		this.tasks.cancel(this.task.slot(), (pending) -> pending == this.task && pending.future() == this.future);
	}

	private TaskClock clock() {
		return this.tasks.environment().clock();
	}

}

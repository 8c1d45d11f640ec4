package io.timingwheel.spring.task.memory;

import java.time.Duration;
import java.util.Objects;
import java.util.function.BiFunction;

import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DuplicateTaskException;
import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.Missed;
import io.timingwheel.spring.task.Schedule;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.internal.TaskRecorder.TaskOutcome;
import io.timingwheel.spring.task.internal.Transactions;
import io.timingwheel.spring.task.internal.Transactions.DeferredCall;
import io.timingwheel.spring.task.memory.Envelope.Debounce;
import io.timingwheel.spring.task.memory.TaskClock.Deadline;
import org.jspecify.annotations.Nullable;

import org.springframework.core.task.TaskRejectedException;

/**
 * A task that is to be scheduled, now or at the commit, with the context of the thread
 * that submits it. One thread may submit it and another one schedule it.
 */
public final class TaskSubmission extends DeferredCall
		implements BiFunction<Object, @Nullable PendingTask, PendingTask> {

	private static final long UNLIMITED = -1;

	private final TaskDefinition definition;

	private final IfPending ifPending;

	private final long maxWaitNanos;

	private final Object payload;

	private final boolean givesResult;

	private final Object slot;

	/** The result; {@code null} until it is needed. */
	private @Nullable TaskFuture<?> future;

	private @Nullable Deadline due;

	/** Whether the task is wanted only if the transaction commits. */
	private boolean afterCommit;

	/** Whether the call waits for the end of the transaction. */
	private boolean deferred;

	private boolean givenUp;

	private @Nullable TaskFuture<?> replacedFuture;

	/**
	 * @param maxWait the task is due at most this long after the first call since it last
	 * began; {@code null} for no limit
	 */
	public TaskSubmission(TaskDefinition definition, @Nullable Object key, IfPending ifPending,
			@Nullable Duration maxWait, Object payload, boolean givesResult) {
		super(null, (ifPending == IfPending.REPLACE) ? Effect.REPLACE : Effect.START);
		this.definition = definition;
		this.ifPending = ifPending;
		this.maxWaitNanos = (maxWait != null) ? TaskClock.nanos(maxWait) : UNLIMITED;
		this.payload = (payload instanceof Repetition) ? payload : Envelope.seal(payload, definition);
		this.givesResult = givesResult;
		this.slot = (key != null) ? TaskKeys.of(key) : new TaskKeys.Unkeyed(sequence());
	}

	/** Schedules a repeating task, as {@link #schedule} does. */
	public static @Nullable DelayedTask<?> repeat(TaskDefinition definition, @Nullable Object key, IfPending ifPending,
			Object payload, Schedule schedule, Missed missed, @Nullable Duration initialDelay) {
		Repetition repetition = new Repetition(payload, definition, schedule, missed);
		return new TaskSubmission(definition, key, ifPending, null, repetition, true)
			.schedule(repetition.first(initialDelay));
	}

	/**
	 * Schedules the task, or leaves the pending one, whose handle it then returns. If an
	 * earlier call of the transaction with this key waits for the commit, this call acts
	 * after it, also after a rollback.
	 * @throws DuplicateTaskException if a task is pending with {@link IfPending#REJECT}
	 * @throws TaskRejectedException after shutdown, or if too many tasks are pending; an
	 * earlier task then stays pending
	 */
	public @Nullable DelayedTask<?> schedule(Deadline due) {
		this.due = due;
		if (Transactions.hasDeferred() && Transactions.earlier(keyInTransaction()) != Effect.NONE) {
			return defer();
		}
		place();
		return this.future;
	}

	/** Schedules the task after the commit, with its delay from then on. */
	public @Nullable DelayedTask<?> scheduleAfterCommit(Deadline due) {
		this.due = due;
		this.afterCommit = true;
		return defer();
	}

	private @Nullable TaskFuture<?> defer() {
		this.deferred = true;
		this.future = this.givesResult ? newFuture(due()) : null;
		Transactions.defer(this);
		return this.future;
	}

	private void place() {
		NamedTasks tasks = tasks();
		tasks.shutdown().checkAccepting(tasks.name);
		// A missing executor fails here, and not on the wheel's thread.
		this.definition.executor();
		tasks.pending.compute(this.slot, this);
		if (this.givenUp) {
			giveUp(TaskOutcome.REPLACED);
		}
		if (this.replacedFuture != null) {
			this.replacedFuture.replaced();
		}
		tasks.cancelIfTooLate(this.slot, sequence(), due().dueNanos());
	}

	/**
	 * Decides under the lock of the key which task is pending from now on. If the
	 * shutdown has begun, or the wheel refuses, the current task stays.
	 */
	@Override
	public PendingTask apply(Object slot, @Nullable PendingTask current) {
		tasks().shutdown().checkAccepting(tasks().name);
		if (current != null && this.deferred && replaces() && current.sequence > sequence()) {
			this.givenUp = true;
			return current;
		}
		if (current != null && !replaces()) {
			this.future = takeOver(current);
			return current;
		}
		Deadline due = deadline(current);
		Object kept = kept(current);
		PendingTask task = current;
		if (task == null || !task.move(this.definition, due)) {
			task = new PendingTask(slot, this.definition);
			task.start(due);
			if (current != null) {
				current.withdraw();
			}
		}
		if (current != null) {
			this.replacedFuture = current.future;
			tasks().recorder.count(TaskOutcome.REPLACED);
		}
		if (this.future != null) {
			this.future.setDue(due.epochNanos());
		}
		else if (this.givesResult) {
			this.future = newFuture(due);
		}
		task.assign(kept, this.future, sequence());
		return task;
	}

	private Deadline deadline(@Nullable PendingTask current) {
		if (this.ifPending == IfPending.UPDATE && current != null && !current.isRunning()) {
			return current.deadline();
		}
		if (this.maxWaitNanos == UNLIMITED) {
			return due();
		}
		long now = clock().nanoTime();
		long delay = TaskClock.add(this.maxWaitNanos, firstCall(current) - now);
		return (delay < due().dueNanos() - now) ? clock().within(now, delay) : due();
	}

	private Object kept(@Nullable PendingTask current) {
		boolean hasFirstCall = this.maxWaitNanos != UNLIMITED
				|| (current != null && current.payload instanceof Debounce);
		return (hasFirstCall && !(this.payload instanceof Repetition)) ? new Debounce(this.payload, firstCall(current))
				: this.payload;
	}

	private long firstCall(@Nullable PendingTask current) {
		return (current != null && current.payload instanceof Debounce debounce) ? debounce.firstNanos()
				: due().nowNanos();
	}

	private @Nullable TaskFuture<?> takeOver(PendingTask current) {
		if (this.ifPending == IfPending.REJECT) {
			throw new DuplicateTaskException(new TaskId(tasks().name, String.valueOf(TaskKeys.text(this.slot))));
		}
		return this.givesResult ? current.futureOrNew() : null;
	}

	@Override
	protected Object keyInTransaction() {
		return new TransactionKey(tasks(), this.slot);
	}

	@Override
	public void commit() {
		TaskFuture<?> given = this.future;
		if (given != null && given.isDone()) {
			giveUp(TaskOutcome.CANCELLED);
			return;
		}
		try {
			if (this.afterCommit) {
				this.due = clock().restart(due());
			}
			place();
			if (given != null) {
				follow(given, this.future);
			}
		}
		catch (RuntimeException ex) {
			if (given != null) {
				given.end(null, ex);
			}
			else {
				this.definition.handleError(ex, Envelope.of(this.payload).payload);
			}
		}
	}

	/** Completes a result that the caller got before the task was scheduled. */
	private void follow(TaskFuture<?> given, @Nullable TaskFuture<?> actual) {
		if (actual != null && actual != given) {
			actual.whenComplete(given::end);
		}
		else if (given.isDone()) {
			// The user has cancelled or completed it during the scheduling.
			tasks().cancel(this.slot, (task) -> task.future == given);
		}
	}

	@Override
	protected boolean needsCommit() {
		return this.afterCommit;
	}

	@Override
	protected void rollback() {
		giveUp(TaskOutcome.CANCELLED);
	}

	@Override
	protected void override(Effect later) {
		giveUp((later == Effect.CANCEL) ? TaskOutcome.CANCELLED : TaskOutcome.REPLACED);
	}

	/** Ends the call without a task. Its user may have completed the future before. */
	private void giveUp(TaskOutcome outcome) {
		TaskFuture<?> future = this.future;
		if (future != null && !future.isDone()) {
			if (outcome == TaskOutcome.REPLACED) {
				future.replaced();
			}
			else {
				future.cancelled();
			}
		}
		if (future == null || future.isCancelled()) {
			tasks().recorder.count(outcome);
		}
	}

	private NamedTasks tasks() {
		return this.definition.tasks;
	}

	private TaskClock clock() {
		return tasks().environment.clock();
	}

	private Deadline due() {
		return Objects.requireNonNull(this.due);
	}

	private TaskFuture<?> newFuture(Deadline due) {
		return new TaskFuture<>(tasks(), this.slot, sequence(), due.epochNanos());
	}

	private boolean replaces() {
		return this.ifPending == IfPending.REPLACE || this.ifPending == IfPending.UPDATE;
	}

	/** Identifies the calls with a key among those that wait for a commit. */
	record TransactionKey(NamedTasks tasks, Object slot) {

	}

}

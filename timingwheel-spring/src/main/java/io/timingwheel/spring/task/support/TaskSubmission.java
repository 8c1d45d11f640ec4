package io.timingwheel.spring.task.support;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.LongPredicate;

import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DuplicateTaskException;
import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.Missed;
import io.timingwheel.spring.task.Schedule;
import io.timingwheel.spring.task.internal.TaskOutcome;
import io.timingwheel.spring.task.internal.Transactions;
import io.timingwheel.spring.task.support.Repetition.Rhythm;
import org.jspecify.annotations.Nullable;

import org.springframework.core.task.TaskRejectedException;

/**
 * A task that is to be scheduled once, now or later: its payload with the context of the
 * thread that submits it, its key, and its result. Not thread-safe, but one thread may
 * submit the task and another thread may schedule it.
 *
 * @since 0.1
 */
public final class TaskSubmission {

	private static final long UNLIMITED = -1;

	private static final LongPredicate NONE = (sequence) -> false;

	private final TaskDefinition<?> definition;

	private final IfPending ifPending;

	private final Object payload;

	private final long maxWaitNanos;

	private final boolean givesResult;

	private final boolean keyed;

	private final long sequence;

	private final Object slot;

	/** Tells, by the sequence of a pending task, whether the task counts as absent. */
	private LongPredicate overlooked = NONE;

	/** The result; {@code null} until it is needed. */
	private @Nullable TaskFuture<?> future;

	/** Whether the task waits for the commit of its caller's transaction. */
	private boolean deferred;

	private boolean givenUp;

	private boolean replacing;

	private @Nullable TaskFuture<?> replaced;

	/**
	 * Submits a task, and captures the context of the current thread for it.
	 * @param <P> the type of the payload
	 * @param definition the definition of the task
	 * @param key the key, compared by its text; {@code null} for a task without one
	 * @param ifPending what to do if a task with this key is pending
	 * @param payload the payload of the task
	 * @param givesResult whether the caller gets the result
	 */
	public <P> TaskSubmission(TaskDefinition<P> definition, @Nullable Object key, IfPending ifPending, P payload,
			boolean givesResult) {
		this(definition, key, ifPending, null, payload, givesResult);
	}

	/**
	 * Submits a task, and captures the context of the current thread for it.
	 * @param <P> the type of the payload
	 * @param definition the definition of the task
	 * @param key the key, compared by its text; {@code null} for a task without one
	 * @param ifPending what to do if a task with this key is pending
	 * @param maxWait the task is due at most this long after the first call since it last
	 * began; {@code null} for no limit
	 * @param payload the payload of the task
	 * @param givesResult whether the caller gets the result
	 */
	public <P> TaskSubmission(TaskDefinition<P> definition, @Nullable Object key, IfPending ifPending,
			@Nullable Duration maxWait, P payload, boolean givesResult) {
		this(definition, key, ifPending, maxWait, givesResult, CapturedPayload.capture(payload, definition));
	}

	private TaskSubmission(TaskDefinition<?> definition, @Nullable Object key, IfPending ifPending,
			@Nullable Duration maxWait, boolean givesResult, Object captured) {
		this.definition = definition;
		this.ifPending = ifPending;
		this.maxWaitNanos = (maxWait != null) ? TaskClock.nanos(maxWait) : UNLIMITED;
		this.payload = captured;
		this.givesResult = givesResult;
		NamedTasks tasks = definition.tasks();
		this.keyed = key != null;
		this.sequence = tasks.environment().nextSequence();
		this.slot = (key != null) ? TaskKeys.of(key) : new TaskKeys.Unkeyed(this.sequence);
	}

	/**
	 * Starts a recurring task, which no exception of a run ends. The task takes the place
	 * of the pending task with its key.
	 * @param <P> the type of the payload
	 * @param definition the definition of the task
	 * @param key the key, compared by its text
	 * @param payload the payload of the task
	 * @param schedule its times
	 * @param missed what becomes of the times that pass during a run
	 * @param initialDelay how long the first run is from now, {@code null} for the first
	 * time of the schedule
	 * @throws TaskRejectedException after shutdown, or if too many tasks are pending
	 */
	public static <P> void recur(TaskDefinition<P> definition, Object key, P payload, Schedule schedule, Missed missed,
			@Nullable Duration initialDelay) {
		repeat(definition, key, IfPending.REPLACE, payload, new Rhythm(schedule, missed, false), initialDelay);
	}

	/**
	 * Starts a repeating task.
	 */
	static <P> @Nullable DelayedTask<?> repeat(TaskDefinition<P> definition, @Nullable Object key, IfPending ifPending,
			P payload, Rhythm rhythm, @Nullable Duration initialDelay) {
		Repetition repetition = new Repetition(CapturedPayload.capture(payload, definition), rhythm);
		return new TaskSubmission(definition, key, ifPending, null, true, repetition)
			.schedule(repetition.first(initialDelay, definition.tasks().environment().clock()));
	}

	/**
	 * Schedules the task.
	 * @param due when it is due
	 * @return the task, or the pending task that it did not replace; {@code null} if the
	 * submission gives no result
	 * @throws DuplicateTaskException if another task is pending and the submission asks
	 * for rejection
	 * @throws TaskRejectedException after shutdown, or if too many tasks are pending; an
	 * earlier task with the key then stays pending
	 */
	public @Nullable DelayedTask<?> schedule(Deadline due) {
		TaskFuture<?> deferred = this.future;
		if (deferred == null) {
			return this.definition.tasks().schedule(this, due);
		}
		if (!deferred.isDone()) {
			follow(deferred, this.definition.tasks().schedule(this, due));
		}
		else if (deferred.isCancelled()) {
			count(TaskOutcome.CANCELLED);
		}
		return deferred;
	}

	/**
	 * Schedules the task once the transaction of the current thread has committed.
	 * @param due when it would be due if it was scheduled now
	 * @param errorHandler takes the exception if the task cannot be scheduled then and
	 * gives no result
	 * @return the task, which can be cancelled until then; {@code null} if the submission
	 * gives no result
	 */
	public @Nullable DelayedTask<?> scheduleAfterCommit(Deadline due, Consumer<? super RuntimeException> errorHandler) {
		this.future = this.givesResult ? newFuture(due) : null;
		this.deferred = true;
		Transactions.defer(new DeferredSchedule(this, due, errorHandler));
		return this.future;
	}

	/**
	 * Gives up the task after a rollback, and cancels the result if there is one.
	 */
	void abandon() {
		if (this.future != null && (this.future.cancelled() || this.future.isCancelled())) {
			count(TaskOutcome.CANCELLED);
		}
	}

	/**
	 * Gives up the task, since a later call has cancelled it before it was scheduled.
	 */
	void cancelled() {
		if (this.future == null || this.future.cancelled()) {
			count(TaskOutcome.CANCELLED);
		}
	}

	/**
	 * Gives up the task, since a later call has replaced it before it was scheduled.
	 */
	void replaced() {
		if (this.future == null) {
			count(TaskOutcome.REPLACED);
		}
		else if (!this.future.isDone()) {
			count(TaskOutcome.REPLACED);
			this.future.replaced();
		}
	}

	private void count(TaskOutcome outcome) {
		this.definition.tasks().recorder().count(outcome);
	}

	/**
	 * Gives up the task, and completes the result, if there is one, with an exception.
	 * @param error the exception
	 * @return whether there is a result
	 */
	boolean fail(Throwable error) {
		if (this.future == null) {
			return false;
		}
		this.future.failed(error);
		return true;
	}

	TaskDefinition<?> definition() {
		return this.definition;
	}

	IfPending ifPending() {
		return this.ifPending;
	}

	boolean isKeyed() {
		return this.keyed;
	}

	long sequence() {
		return this.sequence;
	}

	/**
	 * Identifies the calls with this key among those that wait for a commit.
	 */
	Object keyInTransaction() {
		return this.definition.tasks().keyInTransaction(this.slot);
	}

	/**
	 * Lets some pending tasks count as absent, so that this one replaces them.
	 * @param sequences tells by the sequence of a task whether it counts as absent
	 */
	void overlook(LongPredicate sequences) {
		this.overlooked = this.overlooked.or(sequences);
	}

	/**
	 * Gives up if a pending task was submitted after this one, while this one waited for
	 * the commit.
	 * @return whether the pending task stays
	 */
	boolean givesUpFor(PendingTask current) {
		this.givenUp = this.deferred && replaces() && current.sequence() > this.sequence
				&& !this.overlooked.test(current.sequence());
		return this.givenUp;
	}

	boolean hasGivenUp() {
		return this.givenUp;
	}

	boolean mayReplace(PendingTask current) {
		return replaces() || this.overlooked.test(current.sequence());
	}

	/**
	 * Whether this task takes the place of a pending one.
	 */
	boolean replaces() {
		return this.ifPending == IfPending.REPLACE || this.ifPending == IfPending.UPDATE;
	}

	/**
	 * When this task is due.
	 * @param due when it would be due if no task was pending
	 * @param current the pending task that it replaces, {@code null} for none
	 */
	Deadline deadline(Deadline due, @Nullable PendingTask current) {
		if (current != null && this.overlooked.test(current.sequence())) {
			return deadline(due, null);
		}
		if (current != null && this.ifPending == IfPending.UPDATE && !current.isRunning()) {
			return current.deadline();
		}
		return (this.maxWaitNanos != UNLIMITED) ? limited(due, current) : due;
	}

	private Deadline limited(Deadline due, @Nullable PendingTask current) {
		TaskClock clock = this.definition.tasks().environment().clock();
		long now = clock.nanoTime();
		long first = (current != null && current.payload() instanceof Debounce debounce) ? debounce.firstNanos() : now;
		long delay = TaskClock.add(this.maxWaitNanos, first - now);
		return (delay < due.delayNanos()) ? clock.within(delay) : due;
	}

	/**
	 * The payload as the pending task keeps it.
	 * @param current the pending task that this one replaces, {@code null} for none
	 */
	private Object kept(@Nullable PendingTask current) {
		if (current != null && current.payload() instanceof Debounce debounce
				&& !this.overlooked.test(current.sequence())) {
			return new Debounce(this.payload, debounce.firstNanos());
		}
		return (this.maxWaitNanos != UNLIMITED)
				? new Debounce(this.payload, this.definition.tasks().environment().clock().nanoTime()) : this.payload;
	}

	Object slot() {
		return this.slot;
	}

	@Nullable TaskFuture<?> future() {
		return this.future;
	}

	/**
	 * Writes this submission into a pending task.
	 * @param replaced the task that this one replaces, which may be the same object;
	 * {@code null} for none
	 */
	void assignTo(PendingTask task, Deadline due, @Nullable PendingTask replaced) {
		if (this.future != null) {
			this.future.setDue(due.epochNanos());
		}
		else if (this.givesResult) {
			this.future = newFuture(due);
		}
		task.assign(kept(replaced), this.future, this.sequence);
	}

	/**
	 * Leaves a pending task as it is, and takes over its result.
	 */
	void yieldTo(PendingTask task) {
		if (this.givesResult) {
			this.future = task.futureOrNew();
		}
	}

	/**
	 * Remembers the future of the task that this one replaces.
	 * @param earlier its future, {@code null} if it has none
	 */
	void replaces(@Nullable TaskFuture<?> earlier) {
		this.replacing = true;
		this.replaced = earlier;
	}

	boolean hasReplaced() {
		return this.replacing;
	}

	/**
	 * Completes the future of the task that this one has replaced.
	 */
	void completeReplaced() {
		if (this.replaced != null) {
			this.replaced.replaced();
			this.replaced = null;
		}
	}

	private TaskFuture<?> newFuture(Deadline due) {
		return new TaskFuture<>(this.definition.tasks(), this.definition.name(), this.slot, this.sequence,
				due.epochNanos());
	}

	/**
	 * Completes a result that the caller got before the task was scheduled.
	 */
	@SuppressWarnings("unchecked")
	private void follow(TaskFuture<?> deferred, @Nullable TaskFuture<?> actual) {
		if (actual != null && actual != deferred) {
			((CompletableFuture<Object>) actual).whenComplete((value, error) -> {
				if (error != null) {
					deferred.failed(error);
				}
				else {
					deferred.succeeded(value);
				}
			});
		}
		else if (deferred.isDone()) {
			// The user has cancelled or completed it during the scheduling.
			this.definition.tasks().cancel(this.slot, deferred);
		}
	}

}

package io.timingwheel.spring.task.memory;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DuplicateTaskException;
import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.Missed;
import io.timingwheel.spring.task.Schedule;
import io.timingwheel.spring.task.internal.DeferredCall;
import io.timingwheel.spring.task.internal.TaskOutcome;
import io.timingwheel.spring.task.internal.Transactions;
import io.timingwheel.spring.task.memory.Repetition.Rhythm;
import org.jspecify.annotations.Nullable;

import org.springframework.core.task.TaskRejectedException;

/**
 * A task that is to be scheduled once, now or at the commit: its payload with the context
 * of the thread that submits it, its key, and its result. Not thread-safe, but one thread
 * may submit the task and another thread may schedule it.
 *
 * @since 0.1
 */
public final class TaskSubmission extends DeferredCall {

	private static final long UNLIMITED = -1;

	private final TaskDefinition<?> definition;

	private final IfPending ifPending;

	private final Object payload;

	private final long maxWaitNanos;

	private final boolean givesResult;

	private final boolean keyed;

	private final Object slot;

	/** A pending task with a smaller number counts as absent. */
	private long absentBefore;

	/** The result; {@code null} until it is needed. */
	private @Nullable TaskFuture<?> future;

	/** When the task is due, by the call that waits for the commit. */
	private @Nullable Deadline deferredDue;

	private Consumer<? super RuntimeException> errorHandler = (ex) -> {
	};

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
		super(null, (ifPending == IfPending.REPLACE) ? Effect.REPLACE : Effect.START);
		this.definition = definition;
		this.ifPending = ifPending;
		this.maxWaitNanos = (maxWait != null) ? TaskClock.nanos(maxWait) : UNLIMITED;
		this.payload = captured;
		this.givesResult = givesResult;
		this.keyed = key != null;
		this.slot = (key != null) ? TaskKeys.of(key) : new TaskKeys.Unkeyed(sequence());
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
		return this.definition.tasks().schedule(this, due);
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
		this.deferredDue = due;
		this.errorHandler = errorHandler;
		Transactions.defer(this);
		return this.future;
	}

	@Override
	protected Object keyInTransaction() {
		return this.definition.tasks().keyInTransaction(this.slot);
	}

	/**
	 * Schedules the task. The caller's transaction has committed, so the caller must not
	 * get an exception.
	 */
	@Override
	protected void commit() {
		TaskFuture<?> given = this.future;
		try {
			if (given == null || !given.isDone()) {
				Deadline due = Objects.requireNonNull(this.deferredDue);
				TaskFuture<?> actual = this.definition.tasks().schedule(this, clock().restart(due));
				if (given != null) {
					follow(given, actual);
				}
			}
			else if (given.isCancelled()) {
				count(TaskOutcome.CANCELLED);
			}
		}
		catch (RuntimeException ex) {
			if (given != null) {
				given.failed(ex);
			}
			else {
				this.errorHandler.accept(ex);
			}
		}
	}

	@Override
	protected void rollback() {
		if (this.future != null && (this.future.cancelled() || this.future.isCancelled())) {
			count(TaskOutcome.CANCELLED);
		}
	}

	/**
	 * Gives up the task, since a later call has cancelled or replaced it.
	 */
	@Override
	protected void override(Effect later) {
		if (later == Effect.CANCEL) {
			if (this.future == null || this.future.cancelled()) {
				count(TaskOutcome.CANCELLED);
			}
		}
		else if (this.future == null || !this.future.isDone()) {
			count(TaskOutcome.REPLACED);
			if (this.future != null) {
				this.future.replaced();
			}
		}
	}

	/**
	 * The result of this task that waits for the commit, for a later call that leaves
	 * this task as it is.
	 */
	TaskFuture<?> futureOrNew() {
		if (this.future == null) {
			this.future = newFuture(Objects.requireNonNull(this.deferredDue));
		}
		return this.future;
	}

	private void count(TaskOutcome outcome) {
		this.definition.tasks().recorder().count(outcome);
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

	boolean givesResult() {
		return this.givesResult;
	}

	/**
	 * Lets pending tasks with a smaller number count as absent, since a call cancels
	 * them.
	 */
	void setAbsentBefore(long sequence) {
		this.absentBefore = sequence;
	}

	private boolean isAbsent(PendingTask current) {
		return current.sequence() < this.absentBefore;
	}

	/**
	 * Gives up if a pending task was submitted after this one, while this one waited for
	 * the commit.
	 * @return whether the pending task stays
	 */
	boolean givesUpFor(PendingTask current) {
		this.givenUp = this.deferredDue != null && replaces() && current.sequence() > sequence();
		return this.givenUp;
	}

	boolean hasGivenUp() {
		return this.givenUp;
	}

	boolean mayReplace(PendingTask current) {
		return replaces() || isAbsent(current);
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
		if (current != null && isAbsent(current)) {
			return deadline(due, null);
		}
		if (current != null && this.ifPending == IfPending.UPDATE && !current.isRunning()) {
			return current.deadline();
		}
		return (this.maxWaitNanos != UNLIMITED) ? limited(due, current) : due;
	}

	private Deadline limited(Deadline due, @Nullable PendingTask current) {
		TaskClock clock = clock();
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
		if (current != null && current.payload() instanceof Debounce debounce && !isAbsent(current)) {
			return new Debounce(this.payload, debounce.firstNanos());
		}
		return (this.maxWaitNanos != UNLIMITED) ? new Debounce(this.payload, clock().nanoTime()) : this.payload;
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
		task.assign(kept(replaced), this.future, sequence());
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

	private TaskClock clock() {
		return this.definition.tasks().environment().clock();
	}

	private TaskFuture<?> newFuture(Deadline due) {
		return new TaskFuture<>(this.definition.tasks(), this.definition.name(), this.slot, sequence(),
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

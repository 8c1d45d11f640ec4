package io.timingwheel.spring.task.memory;

import java.lang.reflect.Method;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;

import io.timingwheel.spring.task.DelayedTaskContext;
import io.timingwheel.spring.task.DelayedTaskContextHolder;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.internal.FutureCompletion;
import io.timingwheel.spring.task.internal.ManualTime;
import io.timingwheel.spring.task.internal.TaskExecution;
import io.timingwheel.spring.task.internal.TaskOutcome;
import io.timingwheel.spring.task.internal.TaskPolicies;
import io.timingwheel.spring.task.internal.UserErrors;
import io.timingwheel.spring.task.memory.StartGate.Permit;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.core.task.TaskRejectedException;

/**
 * One run of a task on the executor's thread: takes the task out of the map, runs the
 * body in its context, and {@linkplain #ended ends} the run. A repeating task stays in
 * the map.
 */
final class TaskRun implements TaskExecution {

	private static final Log logger = LogFactory.getLog(TaskRun.class);

	private static final long RETRY_MILLIS = 100;

	private final PendingTask task;

	/** {@code null} if nothing limits the starts of these tasks. */
	private final @Nullable Permit permit;

	// A replacement may change these values until the task begins, so they are read then.

	private TaskDefinition<?> definition;

	/** {@code null} if the task was no longer in the map. */
	private @Nullable Object payload;

	private @Nullable TaskFuture<?> future;

	private long sequence;

	private long dueEpochNanos;

	private long begunNanos;

	private long latenessNanos;

	// The state of the run.

	/** {@code null} for a task that runs once. */
	private @Nullable Repetition repetition;

	private int attempt = 1;

	/** Whether a failure may be followed by another attempt. */
	private boolean triedAgain;

	private boolean invoked;

	private @Nullable Object result;

	private @Nullable Throwable error;

	/** Whether the handler has to be told of the error if there is no other attempt. */
	private boolean unhandled;

	TaskRun(PendingTask task, @Nullable Permit permit) {
		this.task = task;
		this.definition = task.definition();
		this.permit = permit;
	}

	/**
	 * Runs the task, or ends it in place of its body.
	 * @param failure the exception that came before the body, {@code null} for none
	 */
	void run(@Nullable Throwable failure) {
		tasks().pending().computeIfPresent(slot(), this::begin);
		Object payload = this.payload;
		if (payload == null) {
			giveBackPermit();
			return;
		}
		if (this.definition.isExpired(this.latenessNanos)) {
			tasks().recorder().ended(TaskOutcome.EXPIRED);
			giveBackPermit();
			if (this.future != null) {
				this.future.cancelled();
			}
			return;
		}
		if (this.future != null && !this.future.begin()) {
			tasks().recorder().ended(TaskOutcome.CANCELLED);
			giveBackPermit();
			return;
		}
		if (this.permit != null) {
			this.permit.bodyBegins();
		}
		open(payload);
		if (failure != null) {
			failed(failure);
		}
		else {
			call();
		}
		if (!followsResult()) {
			ended(this.result, FutureCompletion.unwrapped(this.error));
		}
	}

	/**
	 * Takes the task out of the map, under the lock of its key.
	 */
	private @Nullable PendingTask begin(Object slot, PendingTask current) {
		if (current != this.task) {
			return current;
		}
		this.definition = current.definition();
		// This comes before the removal: a task must always count as pending or as
		// running.
		tasks().recorder().begun();
		this.payload = current.payload();
		this.future = current.future();
		this.sequence = current.sequence();
		this.dueEpochNanos = current.dueEpochNanos();
		this.begunNanos = environment().clock().nanoTime();
		this.latenessNanos = Math.max(0, this.begunNanos - current.dueNanos());
		if (this.payload instanceof Repetition repetition) {
			repetition.begin(current, environment().clock());
			return current;
		}
		current.forget();
		return null;
	}

	private void giveBackPermit() {
		if (this.permit != null) {
			this.permit.giveBack();
		}
	}

	/**
	 * Takes apart what the pending task kept.
	 */
	private void open(Object payload) {
		Object inner = payload;
		if (inner instanceof Repetition repetition) {
			this.repetition = repetition;
			this.attempt = repetition.attempt();
			inner = repetition.payload();
		}
		if (inner instanceof Debounce debounce) {
			inner = debounce.payload();
		}
		if (inner instanceof Attempt next) {
			this.attempt = next.number();
			inner = next.payload();
		}
		this.payload = inner;
		this.triedAgain = (this.repetition == null || !this.repetition.endsWithFailure())
				&& this.attempt < tasks().policy().maxAttempts(1);
	}

	private void call() {
		try {
			if (this.payload instanceof CapturedPayload captured) {
				captured.run((context) -> invoke(captured.payload(), context));
				if (!this.invoked) {
					this.error = new CancellationException("A TaskDecorator did not run the task");
				}
			}
			else {
				invoke(given(), null);
			}
		}
		catch (Throwable ex) {
			// Only a decorator can throw this, since invoke throws nothing.
			failed(ex);
		}
	}

	/**
	 * Runs the body within the interceptor. An exception becomes part of the result.
	 */
	private void invoke(Object payload, @Nullable Object captured) {
		this.invoked = true;
		environment().bodies().enter();
		try {
			this.result = TaskExecution.run(this, () -> definition().run(payload), environment().interceptor(),
					captured);
		}
		catch (Throwable ex) {
			failed(ex);
		}
		finally {
			environment().bodies().leave();
		}
	}

	/**
	 * Takes an exception. Unless there may be another attempt, calls the handler.
	 */
	private void failed(Throwable error) {
		this.error = error;
		recordFailure(error);
		if (this.triedAgain && !(error instanceof CancellationException)) {
			this.unhandled = true;
		}
		else {
			handle(() -> definition().handleError(error, given()));
		}
	}

	/**
	 * Records that the body has returned. If the task takes over the result of a future
	 * that the body returned, the run ends when this future is done.
	 * @return {@code false} if there is no such future
	 */
	private boolean followsResult() {
		Object result = this.result;
		boolean follows = this.error == null && this.definition.flattens();
		BiConsumer<@Nullable Object, @Nullable Throwable> callback = (value, error) -> {
			Throwable cause = FutureCompletion.unwrapped(error);
			if (cause != null && this.repetition != null) {
				failed(cause);
			}
			else if (cause != null) {
				recordFailure(cause);
			}
			ended(value, cause);
		};
		if (follows && result instanceof CompletionStage<?> stage) {
			bodyReturned((stage instanceof Future<?> inner) ? inner : null);
			FutureCompletion.whenDone(stage, callback);
			return true;
		}
		if (follows && result instanceof Future<?> inner) {
			bodyReturned(inner);
			FutureCompletion.whenDone(inner, completions(), callback);
			return true;
		}
		bodyReturned(null);
		return false;
	}

	private void bodyReturned(@Nullable Future<?> inner) {
		if (this.future != null) {
			this.future.bodyReturned(inner);
		}
	}

	/**
	 * Ends the run: its body has ended, and so has the future whose result the task takes
	 * over.
	 */
	private void ended(@Nullable Object value, @Nullable Throwable error) {
		boolean cancelled = error instanceof CancellationException
				|| (this.repetition == null && this.future != null && this.future.isDone());
		try {
			// 1. The times of the run.
			tasks().recorder().executed(this.latenessNanos, this.begunNanos, environment().clock()::nanoTime);
			// 2. Another attempt, before a newer task with the key may begin.
			if (this.triedAgain && error != null && !cancelled && triesAgain(error)) {
				return;
			}
		}
		finally {
			// 3. The permit, before handlers and the dependents of the future, since
			// these may take long or wait for a task that waits.
			giveBackPermit();
		}
		// 4. The handler, with the context of the body, and then the next run.
		Throwable thrown = this.error;
		if (this.unhandled && thrown != null) {
			handleInContext(thrown);
		}
		boolean goesOn = this.repetition != null && goesOn(this.repetition, error);
		// 5. The outcome, so that a thread that waits for the future sees the new count.
		tasks().recorder()
			.ended(cancelled ? TaskOutcome.CANCELLED : (error != null) ? TaskOutcome.FAILED : TaskOutcome.COMPLETED);
		// 6. The future. The handler gets what the future cannot show anybody.
		boolean seen = !goesOn && completed((this.repetition != null) ? null : value, error, cancelled);
		if (error != null && !seen) {
			handle(() -> definition().handleUnseenError((thrown != null) ? thrown : error, given()));
		}
	}

	/**
	 * Completes the future.
	 * @return whether anybody can see the exception
	 */
	private boolean completed(@Nullable Object value, @Nullable Throwable error, boolean cancelled) {
		TaskFuture<?> future = this.future;
		if (future == null) {
			return false;
		}
		if (error != null) {
			return future.failed(error) || cancelled;
		}
		future.succeeded(value);
		return true;
	}

	/**
	 * Schedules another attempt after a failure.
	 * @return {@code false} if the failure is final
	 */
	private boolean triesAgain(Throwable error) {
		Duration delay = environment().policies().backoff(name(), TaskPolicies.DEFAULT_BACKOFF).after(this.attempt);
		try {
			if (!((this.repetition != null) ? triesRunAgain(this.repetition, delay) : triesTaskAgain(delay))) {
				return false;
			}
		}
		catch (TaskRejectedException ex) {
			error.addSuppressed(ex);
			return false;
		}
		logger.warn("Attempt %d of %d of the %s \"%s\" failed; the next one comes in %d ms: %s".formatted(this.attempt,
				tasks().policy().maxAttempts(1), (this.repetition != null) ? "recurring task" : "task", name(),
				delay.toMillis(), UserErrors.describe(error)));
		tasks().recorder().abandoned();
		return true;
	}

	private boolean triesTaskAgain(Duration delay) {
		Deadline due = environment().clock().after(delay);
		if (!environment().shutdown().mayRun(due.dueNanos())) {
			return false;
		}
		TaskFuture<?> future = this.future;
		if (future != null) {
			future.setDue(due.epochNanos());
			future.waiting();
		}
		Attempt next = new Attempt(Objects.requireNonNull(this.payload), this.attempt + 1);
		if (!tasks().tryAgain(slot(), this.definition, next, future, this.sequence, due)) {
			tasks().recorder().increment(TaskOutcome.SUPERSEDED);
			return false;
		}
		if (future != null && future.isDone()) {
			// The user may have looked before the task was pending again.
			cancel();
		}
		heedShutdown(due.dueNanos());
		return true;
	}

	/**
	 * Schedules another attempt at a run of a repeating task, unless the next run comes
	 * first.
	 */
	private boolean triesRunAgain(Repetition repetition, Duration delay) {
		if (this.future != null) {
			this.future.waiting();
		}
		AtomicBoolean again = new AtomicBoolean();
		tasks().pending().computeIfPresent(slot(), (slot, current) -> {
			if (current == this.task && repetition.tryAgain(current, delay, environment().clock())) {
				again.setPlain(true);
				showDue();
			}
			return current;
		});
		if (again.getPlain()) {
			heedShutdown(this.task.dueNanos());
		}
		return again.getPlain();
	}

	/**
	 * Schedules the next run of a repeating task, unless the task was cancelled or
	 * replaced during this one.
	 * @return {@code false} if the task has ended with this run
	 */
	private boolean goesOn(Repetition repetition, @Nullable Throwable error) {
		if (error != null && repetition.endsWithFailure()) {
			tasks().pending().computeIfPresent(slot(), (slot, current) -> {
				if (current != this.task) {
					return current;
				}
				current.forget();
				return null;
			});
			if (this.future == null || !this.future.isDone()) {
				logger.warn("The repeating task \"" + name() + "\" does not run again, since it threw: "
						+ UserErrors.describe(error));
			}
			return false;
		}
		if (this.future != null) {
			this.future.waiting();
		}
		return scheduleNextRun(repetition);
	}

	private boolean scheduleNextRun(Repetition repetition) {
		AtomicBoolean last = new AtomicBoolean();
		PendingTask pending;
		try {
			pending = tasks().pending().computeIfPresent(slot(), (slot, current) -> {
				if (current == this.task) {
					if (!repetition.scheduleNextRun(current, environment().clock())) {
						last.setPlain(true);
						return null;
					}
					showDue();
				}
				return current;
			});
		}
		catch (TaskRejectedException ex) {
			scheduleNextRunLater(repetition);
			return true;
		}
		if (pending != this.task && !last.getPlain() && this.future != null) {
			// The shutdown has let the task end with this run.
			this.future.cancelled();
		}
		heedShutdown(this.task.dueNanos());
		return !last.getPlain();
	}

	/**
	 * Schedules the next run later, since the wheel has refused.
	 */
	private void scheduleNextRunLater(Repetition repetition) {
		if (!environment().shutdown().isAccepting()) {
			cancel();
			return;
		}
		// The wheel is full at the moment.
		CompletableFuture.delayedExecutor(RETRY_MILLIS, TimeUnit.MILLISECONDS, completions()).execute(() -> {
			if (!scheduleNextRun(repetition)) {
				completed(null, null, false);
			}
		});
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
	private void heedShutdown(long dueNanos) {
		if (!environment().shutdown().mayRun(dueNanos)) {
			cancel();
		}
		environment().shutdown().changed();
	}

	/**
	 * Cancels the task, but not one that has replaced it.
	 */
	private void cancel() {
		tasks().cancel(slot(), (pending) -> pending.sequence() == this.sequence);
	}

	private void handleInContext(Throwable error) {
		Runnable handler = () -> handle(() -> definition().handleError(error, given()));
		if (!(this.payload instanceof CapturedPayload captured)) {
			handler.run();
			return;
		}
		try {
			captured.run((context) -> handler.run());
		}
		catch (Throwable ex) {
			UserErrors.log(logger::warn, "A TaskDecorator threw an exception for the task \"" + name() + "\"", ex);
		}
	}

	/**
	 * Calls an exception handler. Meanwhile this run is the thread's context.
	 */
	private void handle(Runnable handler) {
		DelayedTaskContext outer = DelayedTaskContextHolder.get();
		DelayedTaskContextHolder.set(this);
		try {
			handler.run();
		}
		catch (Throwable ex) {
			UserErrors.log(logger::warn,
					"The exception handler for the task \"" + name() + "\" threw an exception itself", ex);
		}
		finally {
			DelayedTaskContextHolder.set(outer);
		}
	}

	/**
	 * Reports a failure to the virtual time, if there is one.
	 */
	private void recordFailure(Throwable error) {
		ManualTime time = environment().clock().manualTime();
		if (time != null && !(error instanceof CancellationException)) {
			time.failed(name(), error);
		}
	}

	/**
	 * The payload without the captured context.
	 */
	private Object given() {
		Object payload = Objects.requireNonNull(this.payload);
		return (payload instanceof CapturedPayload captured) ? captured.payload() : payload;
	}

	Object slot() {
		return this.task.slot();
	}

	private NamedTasks tasks() {
		return this.definition.tasks();
	}

	@SuppressWarnings("unchecked")
	private TaskDefinition<Object> definition() {
		return (TaskDefinition<Object>) this.definition;
	}

	private Executor completions() {
		return environment().handOvers().completions();
	}

	private TaskEnvironment environment() {
		return tasks().environment();
	}

	@Override
	public String name() {
		return this.definition.name();
	}

	@Override
	public String id() {
		return environment().idOf(this.sequence);
	}

	@Override
	public @Nullable TaskId taskId() {
		return TaskKeys.taskId(name(), slot());
	}

	@Override
	public Instant dueAt() {
		return TaskClock.toInstant(this.dueEpochNanos);
	}

	@Override
	public Duration lateness() {
		return Duration.ofNanos(this.latenessNanos);
	}

	@Override
	public int attempt() {
		return this.attempt;
	}

	@Override
	public int deliveries() {
		return this.attempt;
	}

	@Override
	public @Nullable Method method() {
		return this.definition.method();
	}

}

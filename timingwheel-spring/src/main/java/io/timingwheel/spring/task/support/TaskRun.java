package io.timingwheel.spring.task.support;

import java.lang.reflect.Method;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
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
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.core.task.TaskRejectedException;

/**
 * One run of a task on the executor's thread: takes the task out of the map, runs the
 * body in its context, counts the outcome, and completes the future. A repeating task
 * stays in the map, and a {@link RepeatingRun} takes over after its body.
 */
final class TaskRun implements TaskExecution {

	private static final Log logger = LogFactory.getLog(TaskRun.class);

	private final PendingTask task;

	/** {@code null} if nothing limits the starts of these tasks. */
	private final @Nullable StartGate gate;

	// A replacement may change these values until the task begins, so they are read then.

	private TaskDefinition<?> definition;

	private @Nullable Object payload;

	private @Nullable TaskFuture<?> future;

	private long sequence;

	private long dueEpochNanos;

	private long begunNanos;

	private long latenessNanos;

	/** Whether the task was still in the map, so that it has begun. */
	private boolean begun;

	private int attempt = 1;

	// The state of the run.

	private boolean invoked;

	private @Nullable Object body;

	private @Nullable Object result;

	private @Nullable Throwable error;

	/** The payload for another attempt, {@code null} if this is the last one. */
	private @Nullable Object again;

	/** Whether the handler has to be told of the error if there is no other attempt. */
	private boolean unhandled;

	TaskRun(PendingTask task) {
		this.task = task;
		this.definition = task.definition();
		this.gate = this.definition.tasks().gate();
	}

	void run() {
		run(null);
	}

	/**
	 * Ends the task in place of its body.
	 * @param error the exception of the task
	 */
	void fail(Throwable error) {
		run(error);
	}

	private void run(@Nullable Throwable failure) {
		NamedTasks tasks = this.definition.tasks();
		tasks.pending().computeIfPresent(this.task.slot(), this::begin);
		Object payload = this.payload;
		this.payload = null;
		if (!this.begun || payload == null) {
			leave();
			return;
		}
		if (this.definition.isExpired(this.latenessNanos)) {
			tasks.recorder().ended(TaskOutcome.EXPIRED);
			leave();
			if (this.future != null) {
				this.future.cancelled();
			}
			return;
		}
		if (this.future != null && !this.future.begin()) {
			tasks.recorder().ended(TaskOutcome.CANCELLED);
			leave();
			return;
		}
		if (this.gate != null) {
			this.gate.begun(this.task, this);
		}
		Repetition repetition = (payload instanceof Repetition) ? (Repetition) payload : null;
		Object captured = (repetition != null) ? repetition.payload() : payload;
		if (captured instanceof Debounce debounce) {
			captured = debounce.payload();
		}
		if (captured instanceof Attempt next) {
			this.attempt = next.number();
			captured = next.payload();
		}
		Object given = given(captured);
		if (failure != null) {
			handleError(failure, given);
		}
		else {
			if (repetition != null) {
				this.attempt = repetition.attempt();
			}
			if ((repetition == null || !repetition.rhythm().endsWithFailure())
					&& this.attempt < tasks.policy().maxAttempts(1)) {
				this.again = captured;
			}
			call(captured, given);
		}
		if (repetition != null) {
			new RepeatingRun(this, this.task, repetition, given).finish();
		}
		else {
			finish(given);
		}
	}

	/**
	 * Takes the task out of the map, under the lock of its key.
	 */
	private @Nullable PendingTask begin(Object slot, PendingTask current) {
		if (current != this.task) {
			return current;
		}
		this.begun = true;
		this.definition = current.definition();
		// This comes before the removal: a task must always count as pending or as
		// running.
		this.definition.tasks().recorder().begun();
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

	/**
	 * Leaves the gate without a run.
	 */
	private void leave() {
		if (this.gate != null) {
			this.gate.leave(this.task);
		}
	}

	private void call(Object payload, Object given) {
		try {
			if (payload instanceof CapturedPayload captured) {
				captured.run(this);
				if (!this.invoked) {
					this.error = new CancellationException("A TaskDecorator did not run the task");
				}
			}
			else {
				invoke(payload, null);
			}
		}
		catch (Throwable ex) {
			// Only a decorator can throw this, since invoke throws nothing.
			handleError(ex, given);
		}
	}

	/**
	 * Runs the body within the interceptor. An exception becomes part of the result.
	 */
	void invoke(Object payload, @Nullable Object captured) {
		this.invoked = true;
		this.body = payload;
		environment().bodies().enter();
		try {
			this.result = TaskExecution.run(this, environment().interceptor(), captured);
		}
		catch (Throwable ex) {
			handleError(ex, payload);
		}
		finally {
			environment().bodies().leave();
			this.body = null;
		}
	}

	@Override
	public @Nullable Object proceed() throws Throwable {
		Object body = this.body;
		if (body == null) {
			throw new IllegalStateException("The task has ended");
		}
		return definition().run(body);
	}

	/**
	 * Takes the exception of the body. Unless there may be another attempt, calls the
	 * handler.
	 */
	void handleError(Throwable error, Object payload) {
		this.error = error;
		recordFailure(error);
		if (this.again != null && !(error instanceof CancellationException)) {
			this.unhandled = true;
			return;
		}
		callErrorHandler(error, payload);
	}

	/**
	 * Ends the task, at once or when the future that the body returned is done.
	 * @param given the payload without the captured context
	 */
	private void finish(Object given) {
		// The result is read before, since followResult forgets it.
		Object result = this.result;
		if (!followResult((value, error) -> end(value, error, given))) {
			end(result, this.error, given);
		}
	}

	private void end(@Nullable Object value, @Nullable Throwable error, Object given) {
		Throwable cause = FutureCompletion.unwrapped(error);
		if (!end(value, cause) && cause != null) {
			callUnseenErrorHandler((this.error != null) ? this.error : cause, given);
		}
	}

	/**
	 * Ends the task. Counts the outcome before it completes the future, so that a thread
	 * that waits for the future sees the new count.
	 * @return whether anybody can see an exception of the task
	 */
	private boolean end(@Nullable Object value, @Nullable Throwable cause) {
		TaskFuture<?> future = this.future;
		boolean cancelled = (future != null && future.isDone()) || cause instanceof CancellationException;
		if (cause != null && this.error == null) {
			recordFailure(cause);
		}
		Object again = this.again;
		this.again = null;
		try {
			reportTimes();
			if (again != null && cause != null && !cancelled && tryAgain(again, cause)) {
				return true;
			}
		}
		finally {
			giveBackPermit();
		}
		return end(future, value, cause, cancelled, again);
	}

	private boolean end(@Nullable TaskFuture<?> future, @Nullable Object value, @Nullable Throwable cause,
			boolean cancelled, @Nullable Object payload) {
		Throwable error = this.error;
		if (this.unhandled && error != null && payload != null) {
			callErrorHandler(error, given(payload));
		}
		tasks().recorder()
			.ended(cancelled ? TaskOutcome.CANCELLED : (cause != null) ? TaskOutcome.FAILED : TaskOutcome.COMPLETED);
		if (future == null) {
			return false;
		}
		if (cause != null) {
			return future.failed(cause) || cancelled;
		}
		future.succeeded(value);
		return true;
	}

	/**
	 * Schedules another attempt after a failure.
	 * @return {@code false} if the failure is final
	 */
	private boolean tryAgain(Object payload, Throwable error) {
		NamedTasks tasks = tasks();
		Duration delay = backoff();
		Deadline due = environment().clock().after(delay);
		if (!environment().shutdown().mayRun(due.dueNanos())) {
			return false;
		}
		TaskFuture<?> future = this.future;
		if (future != null) {
			future.setDue(due.epochNanos());
			future.waiting();
		}
		try {
			if (!tasks.tryAgain(this.task.slot(), this.definition, new Attempt(payload, this.attempt + 1), future,
					this.sequence, due)) {
				tasks.recorder().increment(TaskOutcome.SUPERSEDED);
				return false;
			}
		}
		catch (TaskRejectedException ex) {
			error.addSuppressed(ex);
			return false;
		}
		attemptFailed("task", delay, error);
		if ((future != null && future.isDone()) || !environment().shutdown().mayRun(due.dueNanos())) {
			// The user or the shutdown may have looked before the task was pending again.
			tasks.cancel(this.task.slot(), (pending) -> pending.sequence() == this.sequence);
		}
		return true;
	}

	/**
	 * Records that the body has returned. If the task takes over the result of a future
	 * that the body returned, calls back when this future is done.
	 * @return {@code false} if there is no such future, so that nobody calls back
	 */
	boolean followResult(BiConsumer<? super @Nullable Object, ? super @Nullable Throwable> callback) {
		Object result = this.result;
		this.result = null;
		boolean followed = this.error == null && this.definition.flattens();
		if (followed && result instanceof CompletionStage<?> stage) {
			bodyReturned((stage instanceof Future<?> inner) ? inner : null);
			FutureCompletion.whenDone(stage, callback);
			return true;
		}
		if (followed && result instanceof Future<?> inner) {
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
	 * Reports how late the body started and how long it took, with the future whose
	 * result the task takes over.
	 */
	void reportTimes() {
		tasks().recorder().executed(this.latenessNanos, this.begunNanos, environment().clock()::nanoTime);
	}

	/**
	 * How long another attempt waits after a failure of this one.
	 */
	Duration backoff() {
		return environment().policies().backoff(name(), TaskPolicies.DEFAULT_BACKOFF).after(this.attempt);
	}

	/**
	 * Reports that this attempt has failed and another one is scheduled. The task no
	 * longer counts as running.
	 * @param kind the kind of the task, for the log
	 * @param delay how long the other attempt waits
	 * @param error the exception of this attempt
	 */
	void attemptFailed(String kind, Duration delay, Throwable error) {
		logger.warn("Attempt %d of %d of the %s \"%s\" failed; the next one comes in %d ms: %s".formatted(this.attempt,
				tasks().policy().maxAttempts(1), kind, name(), delay.toMillis(), UserErrors.describe(error)));
		tasks().recorder().abandoned();
	}

	/**
	 * Starts the tasks that have waited for this one. This comes before handlers and the
	 * dependents of the future, since these may take long or wait for one of the tasks.
	 */
	void giveBackPermit() {
		if (this.gate != null) {
			this.gate.ended(this);
		}
	}

	void callErrorHandler(Throwable error, Object payload) {
		handle(() -> definition().handleError(error, payload));
	}

	/**
	 * Calls the handler of an exception that nobody can see.
	 */
	void callUnseenErrorHandler(Throwable error, Object payload) {
		handle(() -> definition().handleUnseenError(error, payload));
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
		ManualTime time = environment().manualTime();
		if (time != null && !(error instanceof CancellationException)) {
			time.failed(name(), error);
		}
	}

	/**
	 * The payload without the captured context.
	 */
	private static Object given(Object payload) {
		return (payload instanceof CapturedPayload captured) ? captured.payload() : payload;
	}

	@Nullable Throwable error() {
		return this.error;
	}

	/**
	 * Whether the handler has to be told of the error if there is no other attempt.
	 */
	boolean isUnhandled() {
		return this.unhandled;
	}

	@Nullable TaskFuture<?> future() {
		return this.future;
	}

	Object slot() {
		return this.task.slot();
	}

	NamedTasks tasks() {
		return this.definition.tasks();
	}

	@SuppressWarnings("unchecked")
	private TaskDefinition<Object> definition() {
		return (TaskDefinition<Object>) this.definition;
	}

	/**
	 * The executor for what follows after the body.
	 */
	Executor completions() {
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
		return TaskKeys.taskId(name(), this.task.slot());
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

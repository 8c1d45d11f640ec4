package io.timingwheel.spring.task.memory;

import java.lang.reflect.Method;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.Future;

import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.internal.FutureCompletion;
import io.timingwheel.spring.task.internal.ManualTime;
import io.timingwheel.spring.task.internal.TaskExecution;
import io.timingwheel.spring.task.internal.TaskPolicies;
import io.timingwheel.spring.task.internal.TaskRecorder.TaskOutcome;
import io.timingwheel.spring.task.internal.UserErrors;
import io.timingwheel.spring.task.memory.NamedTasks.TaskEnvironment;
import io.timingwheel.spring.task.memory.StartGate.Permits;
import io.timingwheel.spring.task.memory.TaskClock.Deadline;
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

	static final Log logger = LogFactory.getLog(TaskRun.class);

	/** Changes no more once the run has begun, but for its payload and its permit. */
	private final PendingTask task;

	/** {@code null} if the task was no longer in the map. */
	private @Nullable Envelope envelope;

	private @Nullable Permits permits;

	private @Nullable Repetition repetition;

	private long begunNanos;

	private long latenessNanos;

	private int attempt = 1;

	private boolean invoked;

	private @Nullable Object result;

	private @Nullable Throwable error;

	/** How a failure counts that is final. */
	private TaskOutcome failure = TaskOutcome.FAILED;

	TaskRun(PendingTask task) {
		this.task = task;
	}

	/** Runs the task or, after a failure that came before the body, ends it. */
	void run(@Nullable Throwable failure) {
		tasks().update(this.task, this::begin);
		if (this.envelope == null) {
			return;
		}
		if (definition().isExpired(this.latenessNanos)) {
			endWithoutBody(TaskOutcome.EXPIRED);
		}
		else if (future() != null && !future().begin()) {
			endWithoutBody(TaskOutcome.CANCELLED);
		}
		else {
			if (this.permits != null) {
				tasks().gate.bodyBegins(this.permits);
			}
			if (failure != null) {
				failed(failure);
			}
			else {
				call();
			}
			followResult();
		}
	}

	private boolean begin(PendingTask current) {
		if (current.isRunning()) {
			// An executor that has refused a repeating task may run it too.
			return true;
		}
		// This comes before the removal: a task must always count as pending or as
		// running.
		tasks().recorder.begun();
		this.permits = current.permits();
		current.setPermits(null);
		this.begunNanos = environment().clock().nanoTime();
		this.latenessNanos = Math.max(0, this.begunNanos - current.dueNanos);
		Envelope envelope = Envelope.of(Objects.requireNonNull(current.payload));
		this.envelope = envelope;
		this.attempt = envelope.attempt;
		this.repetition = current.repetition();
		if (this.repetition != null) {
			this.repetition.begin();
		}
		return this.repetition != null;
	}

	private void endWithoutBody(TaskOutcome outcome) {
		tasks().recorder.ended(outcome);
		giveBackPermit(true);
		if (future() != null) {
			future().cancelled();
		}
	}

	private void giveBackPermit(boolean reservesStart) {
		if (this.permits != null) {
			tasks().gate.giveBack(this.permits, this.task.slot, reservesStart);
		}
	}

	private void call() {
		try {
			CallerContext.run(envelope().context, this::invoke);
			if (!this.invoked) {
				this.error = new CancellationException("A TaskDecorator did not run the task");
				logger
					.warn("A TaskDecorator did not run the task \"%s\" on the thread that called it".formatted(name()));
			}
		}
		catch (Throwable ex) {
			// Only a decorator can throw this, since invoke throws nothing.
			failed(ex);
		}
	}

	private void invoke() {
		this.invoked = true;
		try {
			this.result = tasks().shutdown()
				.bodies()
				.run(this, () -> definition().run(envelope().payload), environment().interceptor());
		}
		catch (Throwable ex) {
			failed(ex);
		}
	}

	private void failed(Throwable error) {
		this.error = error;
		ManualTime time = environment().clock().manualTime;
		if (time != null && !(error instanceof CancellationException)) {
			time.failed(error);
		}
	}

	/** Ends the run, at the end of the future if the body has returned one. */
	private void followResult() {
		Object result = (this.error == null && definition().flattens()) ? this.result : null;
		if (future() != null) {
			future().bodyReturned((result instanceof Future<?> inner) ? inner : null);
		}
		if (!FutureCompletion.whenDone(result, environment().handOvers().completions(), this::resultEnded)) {
			ended(this.result);
		}
	}

	private void resultEnded(@Nullable Object value, @Nullable Throwable error) {
		if (error != null) {
			failed(Objects.requireNonNull(FutureCompletion.unwrapped(error)));
		}
		ended(value);
	}

	/** Ends the run: its body has ended, and so has the future that it returned. */
	private void ended(@Nullable Object value) {
		Throwable thrown = this.error;
		Throwable error = FutureCompletion.unwrapped(thrown);
		boolean cancelled = error instanceof CancellationException
				|| (this.repetition == null && future() != null && future().isDone());
		try {
			// 1. The times of the run.
			tasks().recorder.executed(this.latenessNanos, this.begunNanos, environment().clock()::nanoTime);
			// 2. Another attempt, before a newer task with the key may begin.
			if (error != null && !cancelled && triesAgain(error)) {
				return;
			}
		}
		finally {
			// 3. The permit, before handlers and the dependents of the future, since
			// these may take long or wait for a task that waits.
			giveBackPermit(false);
		}
		// 4. The handler, with the context of the body, and then the next run.
		boolean shown = definition().showsErrors();
		if (thrown != null && !shown && (this.invoked || !cancelled)) {
			handle(thrown);
		}
		boolean goesOn = this.repetition != null && this.repetition.goesOn(this.task, future(), error);
		// 5. The outcome, so that a thread that waits for the future sees the new count.
		tasks().recorder
			.ended(cancelled ? TaskOutcome.CANCELLED : (error != null) ? this.failure : TaskOutcome.COMPLETED);
		// 6. The future. The handler gets what the future cannot show anybody.
		boolean seen = !goesOn && future() != null
				&& (future().end((this.repetition != null) ? null : value, error) || cancelled);
		if (thrown != null && !seen && shown) {
			handle(thrown);
		}
	}

	/** Schedules another attempt; {@code false} if the failure is final. */
	private boolean triesAgain(Throwable error) {
		Duration delay = environment().policies().backoff(name(), TaskPolicies.DEFAULT_BACKOFF).after(this.attempt);
		Deadline due = environment().clock().after(delay);
		long sequence = this.task.sequence;
		if (this.attempt >= tasks().policy.maxAttempts(1) || (this.repetition != null && definition().showsErrors())
				|| !tasks().shutdown().mayRun(due.dueNanos())) {
			return false;
		}
		if (future() != null) {
			future().waiting();
		}
		try {
			if (!((this.repetition != null) ? this.repetition.triesAgain(this.task, due) : triesTaskAgain(due))) {
				return false;
			}
		}
		catch (TaskRejectedException ex) {
			error.addSuppressed(ex);
			return false;
		}
		tasks().cancelIfTooLate(this.task.slot, sequence, due.dueNanos());
		tasks().failedAttempts
			.warn("Attempt %d of %d of the %s \"%s\" failed; the next one comes in %d ms: %s".formatted(this.attempt,
					tasks().policy.maxAttempts(1), (this.repetition != null) ? "recurring task" : "task", name(),
					delay.toMillis(), UserErrors.describe(error)));
		tasks().recorder.abandoned();
		return true;
	}

	/** Makes the task pending again, unless a newer one with its key is. */
	private boolean triesTaskAgain(Deadline due) {
		envelope().attempt++;
		PendingTask next = new PendingTask(this.task.slot, this.task.definition);
		next.assign(envelope(), future(), this.task.sequence);
		if (tasks().pending.computeIfAbsent(next.slot, (slot) -> {
			next.start(due);
			return next;
		}) != next) {
			this.failure = TaskOutcome.SUPERSEDED;
			return false;
		}
		if (future() != null && future().isDone()) {
			// The user may have looked before the task was pending again.
			tasks().cancel(next.slot, (pending) -> pending.sequence == this.task.sequence);
		}
		return true;
	}

	/** Calls the handler in the context of the body, unless this is what failed. */
	private void handle(Throwable error) {
		try {
			CallerContext.run(this.invoked ? envelope().context : null, () -> callHandler(error));
		}
		catch (Throwable ex) {
			UserErrors.log(logger::warn, "A TaskDecorator threw an exception for the task \"" + name() + "\"", ex);
		}
	}

	private void callHandler(Throwable error) {
		try {
			tasks().shutdown().bodies().run(this, () -> {
				definition().handleError(error, envelope().payload);
				return null;
			}, null);
		}
		catch (Throwable ex) {
			UserErrors.log(logger::warn,
					"The exception handler for the task \"" + name() + "\" threw an exception itself", ex);
		}
	}

	private Envelope envelope() {
		return Objects.requireNonNull(this.envelope);
	}

	private NamedTasks tasks() {
		return this.task.tasks();
	}

	private @Nullable TaskFuture<?> future() {
		return this.task.future;
	}

	private TaskDefinition definition() {
		return this.task.definition;
	}

	private TaskEnvironment environment() {
		return tasks().environment;
	}

	@Override
	public String name() {
		return tasks().name;
	}

	@Override
	public String id() {
		return TaskKeys.idOf(this.task.slot, this.task.sequence);
	}

	@Override
	public @Nullable TaskId taskId() {
		return TaskKeys.taskId(name(), this.task.slot);
	}

	@Override
	public Instant dueAt() {
		return TaskClock.toInstant(this.task.dueEpochNanos);
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
	public @Nullable Method method() {
		return definition().method();
	}

	@Override
	public @Nullable String parentTrace() {
		return envelope().trace;
	}

}

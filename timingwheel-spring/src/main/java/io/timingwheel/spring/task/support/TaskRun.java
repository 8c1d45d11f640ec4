package io.timingwheel.spring.task.support;

import java.lang.reflect.Method;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import io.timingwheel.spring.task.TaskId;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.core.task.TaskRejectedException;

/**
 * One execution of a task, on the executor's thread: takes the task out of the map, runs
 * the body within its context, and sees to the result.
 */
final class TaskRun implements TaskExecution {

	private static final Log logger = LogFactory.getLog(TaskRun.class);

	private static final long RETRY_MILLIS = 100;

	private final PendingTask task;

	private final DelayedTaskRegistry owner;

	// What follows is read when the task begins, as a replacement may write the task.

	private TaskDefinition<?> definition;

	private @Nullable Object payload;

	private @Nullable TaskFuture<?> future;

	private long sequence;

	private long dueEpochNanos;

	private long latenessNanos;

	private boolean begun;

	// The state of the execution.

	private boolean invoked;

	private @Nullable Object body;

	private @Nullable Object result;

	private @Nullable Throwable error;

	TaskRun(PendingTask task) {
		this.task = task;
		this.definition = task.definition();
		this.owner = this.definition.tasks().owner();
	}

	void run() {
		NamedTasks tasks = this.definition.tasks();
		tasks.pending().computeIfPresent(this.task.slot(), this::begin);
		Object payload = this.payload;
		this.payload = null;
		if (!this.begun || payload == null) {
			return;
		}
		if (this.definition.isExpired(this.latenessNanos)) {
			tasks.ended(TaskOutcome.EXPIRED);
			if (this.future != null) {
				this.future.cancelled();
			}
			return;
		}
		if (this.future != null && !this.future.begin()) {
			tasks.ended(TaskOutcome.CANCELLED);
			return;
		}
		Repetition repetition = (payload instanceof Repetition) ? (Repetition) payload : null;
		call((repetition != null) ? repetition.payload() : payload);
		if (repetition != null) {
			repeat(repetition);
		}
		else {
			finish();
		}
	}

	/**
	 * Takes the task, under the map's lock of its key.
	 */
	private @Nullable PendingTask begin(Object slot, PendingTask current) {
		if (current != this.task) {
			return current;
		}
		this.begun = true;
		this.definition = current.definition();
		// Before it is gone from the pending ones: it is never neither of both.
		this.definition.tasks().begun();
		this.payload = current.payload();
		this.future = current.future();
		this.sequence = current.sequence();
		this.dueEpochNanos = current.dueEpochNanos();
		this.latenessNanos = Math.max(0, this.owner.clock().nanoTime() - current.dueNanos());
		if (this.payload instanceof Repetition repetition) {
			repetition.begin();
			return current;
		}
		current.forget();
		return null;
	}

	private void call(Object payload) {
		try {
			if (payload instanceof CapturedCall captured) {
				captured.call(this);
				if (!this.invoked) {
					this.error = new CancellationException("A TaskDecorator did not run the task");
				}
			}
			else {
				invoke(payload, null);
			}
		}
		catch (Throwable ex) {
			// Of a decorator.
			handleError(ex, payload);
		}
	}

	/**
	 * Runs the body. Throws nothing: what the body throws is part of the result.
	 */
	void invoke(Object payload, @Nullable Object captured) {
		this.invoked = true;
		this.body = payload;
		try {
			this.result = TaskExecution.run(this, this.owner.interceptor(), captured);
		}
		catch (Throwable ex) {
			handleError(ex, payload);
		}
		finally {
			this.body = null;
		}
	}

	@Override
	@SuppressWarnings("unchecked")
	public @Nullable Object proceed() throws Throwable {
		Object body = this.body;
		if (body == null) {
			throw new IllegalStateException("The task has ended");
		}
		return ((TaskBody<Object>) this.definition.body()).run(body);
	}

	@SuppressWarnings("unchecked")
	private void handleError(Throwable error, Object payload) {
		this.error = error;
		try {
			Object given = (payload instanceof CapturedCall captured) ? captured.payload() : payload;
			((TaskBody<Object>) this.definition.body()).handleError(error, given);
		}
		catch (Throwable ex) {
			logger.warn("The exception handler for the task \"" + name() + "\" threw an exception itself", ex);
		}
	}

	private void finish() {
		Object result = this.result;
		this.result = null;
		if (this.error == null && this.definition.body().flattens()) {
			if (result instanceof CompletionStage<?> stage) {
				bodyReturned((stage instanceof Future<?> inner) ? inner : null);
				stage.whenComplete(this::end);
				return;
			}
			if (result instanceof Future<?> inner) {
				bodyReturned(inner);
				FutureCompletion.whenDone(inner, executor(), this::end);
				return;
			}
		}
		bodyReturned(null);
		end(result, this.error);
	}

	private void bodyReturned(@Nullable Future<?> inner) {
		if (this.future != null) {
			this.future.bodyReturned(inner);
		}
	}

	/**
	 * Ends the task. Figures come first, so that whoever waits for the future sees them.
	 */
	private void end(@Nullable Object value, @Nullable Throwable error) {
		TaskFuture<?> future = this.future;
		Throwable cause = (error instanceof CompletionException && error.getCause() != null) ? error.getCause() : error;
		boolean cancelled = (future != null && future.isDone()) || cause instanceof CancellationException;
		this.definition.tasks()
			.ended(cancelled ? TaskOutcome.CANCELLED : (cause != null) ? TaskOutcome.FAILED : TaskOutcome.COMPLETED);
		if (future == null) {
			return;
		}
		if (cause != null) {
			future.failed(cause);
		}
		else {
			future.succeeded(value);
		}
	}

	private void repeat(Repetition repetition) {
		bodyReturned(null);
		TaskFuture<?> future = this.future;
		Throwable error = this.error;
		NamedTasks tasks = this.definition.tasks();
		if (error == null) {
			tasks.ended(TaskOutcome.COMPLETED);
			if (future != null) {
				future.waiting();
			}
			startAgain(repetition);
			return;
		}
		tasks.ended(TaskOutcome.FAILED);
		tasks.pending().remove(this.task.slot(), this.task);
		if (future == null || !future.isDone()) {
			logger.warn("The periodic task \"" + name() + "\" ends, as it threw an exception", error);
		}
		if (future != null) {
			future.failed(error);
		}
	}

	/**
	 * Schedules the next run, unless the task was called off or replaced during this one.
	 */
	private void startAgain(Repetition repetition) {
		NamedTasks tasks = this.definition.tasks();
		try {
			tasks.pending().computeIfPresent(this.task.slot(), (slot, current) -> {
				if (current == this.task) {
					repetition.startNext(current, this.owner.clock());
					if (this.future != null) {
						this.future.setDue(current.dueEpochNanos());
					}
				}
				return current;
			});
		}
		catch (TaskRejectedException ex) {
			if (this.owner.isAccepting()) {
				// The wheel is full for the moment.
				CompletableFuture.delayedExecutor(RETRY_MILLIS, TimeUnit.MILLISECONDS, executor())
					.execute(() -> startAgain(repetition));
			}
			else {
				tasks.cancel(this.task.slot(), this.future);
			}
			return;
		}
		this.owner.startedAgain(this.task, this.future);
	}

	/**
	 * Where the rest is done.
	 */
	private Executor executor() {
		return FutureCompletion.unrefusing(this.owner.handOver(this.definition.executor()));
	}

	@Override
	public String name() {
		return this.definition.name();
	}

	@Override
	public String id() {
		return this.owner.idOf(this.sequence);
	}

	@Override
	public @Nullable TaskId taskId() {
		String key = TaskKeys.text(this.task.slot());
		return (key != null) ? new TaskId(name(), key) : null;
	}

	@Override
	public Instant dueAt() {
		return Nanos.toInstant(this.dueEpochNanos);
	}

	@Override
	public Duration lateness() {
		return Duration.ofNanos(this.latenessNanos);
	}

	@Override
	public @Nullable Method method() {
		return this.definition.body().method();
	}

}

package io.timingwheel.spring.task.memory;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;

import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.internal.ManualTime;
import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;

/**
 * The result of a task, and the handle of its scheduling. Whenever the user completes the
 * future, a task that has not begun is removed. Thread-safe.
 */
final class TaskFuture<T extends @Nullable Object> extends CompletableFuture<T> implements DelayedTask<T> {

	private final NamedTasks tasks;

	private final Object slot;

	private final long sequence;

	private volatile long dueEpochNanos;

	private volatile boolean running;

	private volatile boolean replaced;

	/** The thread that runs the body, or the future that it returned; guarded by this. */
	private @Nullable Object executing;

	/** Whether {@link #cancel} has interrupted that thread; guarded by this. */
	private boolean interrupted;

	TaskFuture(NamedTasks tasks, Object slot, long sequence, long dueEpochNanos) {
		this.tasks = tasks;
		this.slot = slot;
		this.sequence = sequence;
		this.dueEpochNanos = dueEpochNanos;
	}

	@Override
	public String id() {
		return TaskKeys.idOf(this.slot, this.sequence);
	}

	@Override
	public @Nullable TaskId taskId() {
		return TaskKeys.taskId(this.tasks.name, this.slot);
	}

	@Override
	public Instant dueAt() {
		return TaskClock.toInstant(this.dueEpochNanos);
	}

	@Override
	public Status status() {
		if (!isDone()) {
			return this.running ? Status.RUNNING : Status.SCHEDULED;
		}
		if (isCancelled()) {
			return this.replaced ? Status.REPLACED : Status.CANCELLED;
		}
		return isCompletedExceptionally() ? Status.FAILED : Status.SUCCEEDED;
	}

	@Override
	public boolean reschedule(Duration delay) {
		Assert.notNull(delay, "The delay must not be null");
		return !isDone() && this.tasks.reschedule(this.slot, this.tasks.environment.clock().after(delay), this::isOf);
	}

	private boolean isOf(PendingTask task) {
		return task.future == this;
	}

	@Override
	public CompletableFuture<T> completion() {
		return this;
	}

	@Override
	public T get() throws InterruptedException, ExecutionException {
		checkWait();
		return super.get();
	}

	@Override
	public T join() {
		checkWait();
		return super.join();
	}

	private void checkWait() {
		ManualTime time = this.tasks.environment.clock().manualTime;
		if (time != null && !isDone()) {
			time.checkWait(this.tasks.name, dueAt());
		}
	}

	@Override
	public boolean cancel(boolean mayInterruptIfRunning) {
		if (isDone() || (!removeTask() && !cancelled())) {
			return false;
		}
		if (mayInterruptIfRunning) {
			interrupt();
		}
		return true;
	}

	@Override
	public boolean complete(T value) {
		return removeIf(super.complete(value));
	}

	@Override
	public boolean completeExceptionally(Throwable ex) {
		return removeIf(super.completeExceptionally(ex));
	}

	private boolean removeIf(boolean completed) {
		if (completed) {
			removeTask();
		}
		return completed;
	}

	private boolean removeTask() {
		return this.tasks.cancel(this.slot, this::isOf);
	}

	void setDue(long epochNanos) {
		this.dueEpochNanos = epochNanos;
	}

	/** Cancels the future alone. */
	boolean cancelled() {
		return super.completeExceptionally(
				new CancellationException("The task \"" + this.tasks.name + "\" was cancelled"));
	}

	void replaced() {
		this.replaced = true;
		super.completeExceptionally(
				new CancellationException("The task \"" + this.tasks.name + "\" was replaced by a newer one"));
	}

	/** Tells whether somebody sees the result. */
	@SuppressWarnings("unchecked")
	boolean end(@Nullable Object value, @Nullable Throwable error) {
		boolean watched = getNumberOfDependents() > 0;
		return !((error != null) ? super.completeExceptionally(error) : super.complete((T) value)) || watched;
	}

	/**
	 * Records that the body begins on this thread; {@code false} if the future is done.
	 */
	synchronized boolean begin() {
		if (isDone()) {
			return false;
		}
		this.executing = Thread.currentThread();
		this.running = true;
		return true;
	}

	void bodyReturned(@Nullable Future<?> inner) {
		boolean cancelInner;
		synchronized (this) {
			this.executing = inner;
			cancelInner = this.interrupted;
			if (this.interrupted) {
				// The body may have missed the interrupt. The executor must not see it.
				this.interrupted = false;
				Thread.interrupted();
			}
		}
		if (inner != null && cancelInner) {
			inner.cancel(true);
		}
	}

	/** Records that no run is under way: the next attempt or the next run follows. */
	void waiting() {
		this.running = false;
	}

	private void interrupt() {
		Object executing;
		synchronized (this) {
			executing = this.executing;
			if (executing instanceof Thread thread) {
				this.interrupted = true;
				thread.interrupt();
			}
		}
		if (executing instanceof Future<?> inner) {
			inner.cancel(true);
		}
	}

}

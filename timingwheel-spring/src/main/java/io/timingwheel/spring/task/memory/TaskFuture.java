package io.timingwheel.spring.task.memory;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

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

	private final String name;

	private final Object slot;

	private final long sequence;

	private volatile long dueEpochNanos;

	private volatile boolean running;

	private volatile boolean replaced;

	/**
	 * The thread that runs the body, or the future that the body returned; guarded by
	 * this.
	 */
	private @Nullable Object executing;

	/** Whether {@link #cancel} has interrupted that thread; guarded by this. */
	private boolean interrupted;

	TaskFuture(NamedTasks tasks, String name, Object slot, long sequence, long dueEpochNanos) {
		this.tasks = tasks;
		this.name = name;
		this.slot = slot;
		this.sequence = sequence;
		this.dueEpochNanos = dueEpochNanos;
	}

	@Override
	public String id() {
		return this.tasks.environment().idOf(this.sequence);
	}

	@Override
	public @Nullable TaskId taskId() {
		return TaskKeys.taskId(this.name, this.slot);
	}

	@Override
	public Instant dueAt() {
		return TaskClock.toInstant(this.dueEpochNanos);
	}

	@Override
	public Status status() {
		if (isDone()) {
			if (isCancelled()) {
				return this.replaced ? Status.REPLACED : Status.CANCELLED;
			}
			return isCompletedExceptionally() ? Status.FAILED : Status.SUCCEEDED;
		}
		return this.running ? Status.RUNNING : Status.SCHEDULED;
	}

	@Override
	public boolean reschedule(Duration delay) {
		Assert.notNull(delay, "The delay must not be null");
		return !isDone() && this.tasks.reschedule(this.slot, this, this.tasks.environment().clock().after(delay));
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

	/**
	 * With virtual time the timeout is over at once on a thread that alone moves the
	 * time.
	 */
	@Override
	public T get(long timeout, TimeUnit unit) throws InterruptedException, ExecutionException, TimeoutException {
		try {
			checkWait();
		}
		catch (IllegalStateException ex) {
			TimeoutException timedOut = new TimeoutException(ex.getMessage());
			timedOut.initCause(ex);
			throw timedOut;
		}
		return super.get(timeout, unit);
	}

	@Override
	public T join() {
		checkWait();
		return super.join();
	}

	private void checkWait() {
		ManualTime time = this.tasks.environment().clock().manualTime();
		if (time != null && !isDone()) {
			time.checkWait(this.name, dueAt());
		}
	}

	@Override
	public boolean cancel(boolean mayInterruptIfRunning) {
		if (isDone()) {
			return false;
		}
		if (!this.tasks.cancel(this.slot, this) && !cancelled()) {
			return false;
		}
		if (mayInterruptIfRunning) {
			interrupt();
		}
		return true;
	}

	@Override
	public boolean complete(T value) {
		if (isDone()) {
			return false;
		}
		boolean completed = super.complete(value);
		this.tasks.cancel(this.slot, this);
		return completed;
	}

	@Override
	public boolean completeExceptionally(Throwable ex) {
		if (isDone()) {
			return false;
		}
		boolean completed = super.completeExceptionally(ex);
		this.tasks.cancel(this.slot, this);
		return completed;
	}

	@Override
	public CompletableFuture<T> completeAsync(Supplier<? extends T> supplier, Executor executor) {
		executor.execute(() -> {
			if (isDone()) {
				return;
			}
			try {
				complete(supplier.get());
			}
			catch (Throwable ex) {
				completeExceptionally(ex);
			}
		});
		return this;
	}

	@Override
	public CompletableFuture<T> completeAsync(Supplier<? extends T> supplier) {
		return completeAsync(supplier, defaultExecutor());
	}

	@Override
	public <U> CompletableFuture<U> newIncompleteFuture() {
		return new CompletableFuture<>();
	}

	void setDue(long epochNanos) {
		this.dueEpochNanos = epochNanos;
	}

	/**
	 * Cancels the future alone.
	 */
	boolean cancelled() {
		return super.completeExceptionally(new CancellationException("The task \"" + this.name + "\" was cancelled"));
	}

	/**
	 * Completes the future of a task that a newer task has replaced.
	 */
	void replaced() {
		this.replaced = true;
		super.completeExceptionally(
				new CancellationException("The task \"" + this.name + "\" was replaced by a newer one"));
	}

	@SuppressWarnings("unchecked")
	void succeeded(@Nullable Object value) {
		super.complete((T) value);
	}

	/**
	 * Completes the future with an exception.
	 * @return whether anybody can see the exception: the user has completed the future,
	 * waits for it, or has made another future depend on it
	 */
	boolean failed(Throwable error) {
		boolean watched = getNumberOfDependents() > 0;
		return !super.completeExceptionally(error) || watched;
	}

	/**
	 * Records that the body is about to run on this thread.
	 * @return {@code false} if the future is complete, so that the body must not run
	 */
	synchronized boolean begin() {
		if (isDone()) {
			return false;
		}
		this.executing = Thread.currentThread();
		this.running = true;
		return true;
	}

	/**
	 * Records that the body has returned.
	 * @param inner the future that gives the result of the task, if the body returned
	 * one; otherwise {@code null}
	 */
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

	/**
	 * Records that no run is under way: the next attempt or the next run follows.
	 */
	void waiting() {
		this.running = false;
	}

	private void interrupt() {
		Future<?> inner = null;
		synchronized (this) {
			if (this.executing instanceof Thread thread) {
				this.interrupted = true;
				thread.interrupt();
			}
			else if (this.executing instanceof Future<?> future) {
				inner = future;
			}
		}
		if (inner != null) {
			inner.cancel(true);
		}
	}

}

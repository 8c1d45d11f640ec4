package io.timingwheel;

import java.util.concurrent.Callable;
import java.util.concurrent.Delayed;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.RunnableScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import org.jspecify.annotations.Nullable;

/**
 * A task of a {@link WheelScheduledExecutorService}. All runs of a periodic task use the
 * same timer, which keeps its permit of the limit.
 *
 * @param <V> the type of the result
 */
final class WheelScheduledTask<V> extends FutureTask<V> implements RunnableScheduledFuture<V> {

	private static final AtomicLong SEQUENCE = new AtomicLong();

	final WheelScheduledExecutorService service;

	private final long sequence = SEQUENCE.getAndIncrement();

	/**
	 * Nanoseconds: positive for a fixed rate, negative for a fixed delay, 0 for one run.
	 */
	private final long period;

	/** Nanoseconds since the creation of the wheel. */
	private volatile long deadline;

	private volatile @Nullable Timer timer;

	/** Guarded by this. */
	private @Nullable Thread runner;

	/** Guarded by this. */
	private boolean interrupted;

	/** Guarded by this. */
	private boolean withdrawn;

	WheelScheduledTask(WheelScheduledExecutorService service, Callable<V> task, long deadline, long period) {
		super(task);
		this.service = service;
		this.deadline = deadline;
		this.period = period;
	}

	/**
	 * Remembers the timer, and cancels it if another thread has ended the task meanwhile.
	 */
	void timer(Timer timer) {
		this.timer = timer;
		if (isOver()) {
			cancelTimer();
		}
	}

	/**
	 * Cancels the timer. That of a periodic task ends, too, if the executor has not begun
	 * the task yet.
	 */
	private void cancelTimer() {
		Timer timer = this.timer;
		if (timer != null) {
			timer.cancel(isPeriodic() ? Timer.FIRED : 0);
		}
	}

	long deadline() {
		return this.deadline;
	}

	/**
	 * Runs the task. A periodic task comes here only if somebody runs it to whom
	 * {@code stop} has returned it.
	 */
	@Override
	public void run() {
		if (runOnce()) {
			endUnlessWithdrawn(wheelIsStopped());
		}
	}

	/**
	 * Runs the task, and makes its timer pending again for the next run. If another
	 * thread ends the task at the same time, at least one of the two ends the timer: the
	 * other one ends the task and then the timer, and this one repeats the timer and then
	 * looks whether the task has ended.
	 */
	void run(Timer timer, Shard shard) {
		boolean again = false;
		try {
			again = runOnce() && repeat(timer, shard);
		}
		catch (Throwable ex) {
			// For example no memory for the slot of the next run. The wheel's handler
			// gets the error, too.
			endUnlessWithdrawn(ex);
			throw ex;
		}
		finally {
			if (!again) {
				shard.end(timer, Timer.BEGUN, Timer.ENDED);
			}
			else if (isOver()) {
				timer.cancel(Timer.FIRED);
			}
		}
	}

	/**
	 * Runs the body, unless {@code shutdownNow} was called.
	 * @return whether another run follows
	 */
	private boolean runOnce() {
		if (!begin()) {
			return false;
		}
		try {
			if (isPeriodic()) {
				return runAndReset();
			}
			super.run();
			return false;
		}
		finally {
			end();
		}
	}

	private synchronized boolean begin() {
		if (this.service.isStopped()) {
			return false;
		}
		this.runner = Thread.currentThread();
		return true;
	}

	private void end() {
		synchronized (this) {
			this.runner = null;
			if (this.interrupted) {
				// The interrupt was meant for this task, not for the next task of the
				// thread.
				Thread.interrupted();
			}
		}
		if (isDone()) {
			this.service.ended(this);
		}
	}

	private boolean repeat(Timer timer, Shard shard) {
		if (this.service.isShutdown()) {
			// A later shutdown finds the waiting task and ends it.
			endUnlessWithdrawn(null);
			return false;
		}
		this.deadline = this.service.next(this.deadline, this.period);
		if (shard.repeat(timer, this.service.nanosUntil(this.deadline))) {
			return true;
		}
		endUnlessWithdrawn(wheelIsStopped());
		return false;
	}

	private static RejectedExecutionException wheelIsStopped() {
		return new RejectedExecutionException("The timing wheel is stopped");
	}

	/**
	 * Ends a periodic task that has no further run, unless {@code shutdownNow} has
	 * returned it. Without a reason, the task is cancelled.
	 */
	private synchronized void endUnlessWithdrawn(@Nullable Throwable reason) {
		if (this.withdrawn) {
			return;
		}
		if (reason != null) {
			setException(reason);
		}
		else {
			cancel(false);
		}
	}

	synchronized boolean withdraw() {
		if (this.runner != null) {
			this.interrupted = true;
			this.runner.interrupt();
			return false;
		}
		if (this.withdrawn) {
			return false;
		}
		this.withdrawn = true;
		cancelTimer();
		return !isDone();
	}

	private synchronized boolean isOver() {
		return isDone() || this.withdrawn;
	}

	@Override
	public boolean cancel(boolean mayInterruptIfRunning) {
		boolean cancelled = super.cancel(mayInterruptIfRunning);
		if (cancelled) {
			cancelTimer();
		}
		return cancelled;
	}

	@Override
	protected void done() {
		if (!isRunning()) {
			this.service.ended(this);
		}
	}

	synchronized boolean isRunning() {
		return this.runner != null;
	}

	@Override
	public boolean isPeriodic() {
		return this.period != 0;
	}

	@Override
	public long getDelay(TimeUnit unit) {
		return unit.convert(this.service.nanosUntil(this.deadline), TimeUnit.NANOSECONDS);
	}

	@Override
	public int compareTo(Delayed other) {
		if (other instanceof WheelScheduledTask<?> task && task.service.time == this.service.time) {
			int order = Long.compare(this.deadline, task.deadline);
			return (order != 0) ? order : Long.compare(this.sequence, task.sequence);
		}
		return Long.compare(getDelay(TimeUnit.NANOSECONDS), other.getDelay(TimeUnit.NANOSECONDS));
	}

	@Override
	public boolean equals(@Nullable Object other) {
		return this == other;
	}

	@Override
	public int hashCode() {
		return Long.hashCode(this.sequence);
	}

}

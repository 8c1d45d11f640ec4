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

	/** Nanoseconds of a fixed rate, negative for a fixed delay, 0 for one run. */
	private final long period;

	/** Nanoseconds since the creation of the wheel. */
	volatile long deadline;

	private volatile @Nullable Timer timer;

	// This object guards the following.

	private @Nullable Thread runner;

	private boolean interrupted;

	private boolean withdrawn;

	WheelScheduledTask(WheelScheduledExecutorService service, Callable<V> task, long deadline, long period) {
		super(task);
		this.service = service;
		this.deadline = deadline;
		this.period = period;
	}

	/** Cancels the timer if another thread has ended the task meanwhile. */
	synchronized void timer(Timer timer) {
		this.timer = timer;
		if (isDone() || this.withdrawn) {
			cancelTimer();
		}
	}

	/** The timer of a periodic task has a permit while the task runs. */
	private void cancelTimer() {
		Timer timer = this.timer;
		if (timer != null) {
			timer.cancel(isPeriodic() ? Timer.BEGUN : 0);
		}
	}

	/**
	 * The timer calls this for a task with one run. For a periodic task, only somebody
	 * does to whom {@code stop} has returned it.
	 */
	@Override
	public void run() {
		if (runOnce()) {
			end(wheelIsStopped());
		}
	}

	/** Makes the timer pending again, unless another thread has ended the task. */
	void run(Timer timer, Shard shard) {
		boolean again = false;
		try {
			again = runOnce() && repeat(timer, shard);
		}
		catch (Throwable ex) {
			// No memory for the next run. The wheel's handler gets the error, too.
			end(ex);
			throw ex;
		}
		finally {
			if (!again) {
				timer.cancel(Timer.BEGUN);
			}
		}
	}

	/** Returns whether another run follows. After {@code shutdownNow}, runs nothing. */
	private boolean runOnce() {
		synchronized (this) {
			if (this.service.isStopped()) {
				return false;
			}
			this.runner = Thread.currentThread();
		}
		try {
			if (isPeriodic()) {
				return runAndReset();
			}
			super.run();
			return false;
		}
		finally {
			synchronized (this) {
				this.runner = null;
				if (this.interrupted) {
					// The interrupt was not for the next task of the thread.
					Thread.interrupted();
				}
			}
			if (isDone()) {
				this.service.ended(this);
			}
		}
	}

	private boolean repeat(Timer timer, Shard shard) {
		if (this.service.isShutdown()) {
			// A later shutdown finds the waiting task and ends it.
			end(null);
			return false;
		}
		this.deadline = this.service.next(this.deadline, this.period);
		if (shard.repeat(timer, this.service.nanosUntil(this.deadline))) {
			return true;
		}
		end(wheelIsStopped());
		return false;
	}

	private static RejectedExecutionException wheelIsStopped() {
		return new RejectedExecutionException("The timing wheel is stopped");
	}

	/** Ends a periodic task, unless {@code shutdownNow} has returned it. */
	private synchronized void end(@Nullable Throwable reason) {
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

	/** Takes the task back if it does not run, otherwise interrupts it. */
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

}

package io.timingwheel;

import java.util.concurrent.Callable;
import java.util.concurrent.Delayed;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RunnableScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import org.jspecify.annotations.Nullable;

/**
 * A task of a {@link WheelScheduledExecutorService}.
 *
 * @param <V> the type of the result
 */
class WheelScheduledTask<V> extends FutureTask<V> implements RunnableScheduledFuture<V> {

	private static final AtomicLong SEQUENCE = new AtomicLong();

	final WheelScheduledExecutorService service;

	private final long sequence = SEQUENCE.getAndIncrement();

	/** Nanoseconds since the creation of the wheel. */
	volatile long deadline;

	private volatile @Nullable Timer timer;

	/** Guarded by this. */
	private @Nullable Thread runner;

	/** Guarded by this. */
	private boolean interrupted;

	/** Guarded by this. */
	private boolean withdrawn;

	WheelScheduledTask(WheelScheduledExecutorService service, Callable<V> task, long deadline) {
		super(task);
		this.service = service;
		this.deadline = deadline;
	}

	/**
	 * Remembers the timer. If another thread has ended the task in the meantime and did
	 * not know the timer, cancels the timer.
	 */
	void timer(Timer timer) {
		this.timer = timer;
		if (isDone() || isWithdrawn()) {
			cancel(timer);
		}
	}

	void cancel(Timer timer) {
		timer.cancel();
	}

	long deadline() {
		return this.deadline;
	}

	@Override
	public void run() {
		runOnce();
	}

	/**
	 * Runs the body, unless {@code shutdownNow} was called.
	 * @return whether another run follows
	 */
	final boolean runOnce() {
		if (!begin()) {
			return false;
		}
		try {
			return runBody();
		}
		finally {
			end();
		}
	}

	/**
	 * Runs the body.
	 * @return whether another run follows
	 */
	boolean runBody() {
		super.run();
		return false;
	}

	/**
	 * Begins a run, unless {@code shutdownNow} was called and returns the task. A task
	 * that has begun runs, as {@code shutdownNow} does not return it.
	 */
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

	/**
	 * Withdraws the task if it has not begun, otherwise interrupts it.
	 * @return whether this call has withdrawn the task, so that it will not run
	 */
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
		Timer timer = this.timer;
		if (timer != null) {
			cancel(timer);
		}
		return !isDone();
	}

	final synchronized boolean isWithdrawn() {
		return this.withdrawn;
	}

	/**
	 * Records that {@code stop} has returned the task to its caller.
	 */
	void returned() {
		this.service.ended(this);
	}

	/**
	 * Ends a periodic task that has no further run. Fails the task with the given reason,
	 * or cancels the task if there is no reason. If {@code shutdownNow} has returned the
	 * task, does nothing.
	 */
	synchronized void endUnlessWithdrawn(@Nullable Throwable reason) {
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

	@Override
	public boolean cancel(boolean mayInterruptIfRunning) {
		boolean cancelled = super.cancel(mayInterruptIfRunning);
		Timer timer = this.timer;
		if (cancelled && timer != null) {
			cancel(timer);
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
		return false;
	}

	@Override
	public long getDelay(TimeUnit unit) {
		return unit.convert(this.service.nanosUntil(this.deadline), TimeUnit.NANOSECONDS);
	}

	@Override
	public int compareTo(Delayed other) {
		if (other == this) {
			return 0;
		}
		if (other instanceof WheelScheduledTask<?> task && task.service.sameClock(this.service)) {
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

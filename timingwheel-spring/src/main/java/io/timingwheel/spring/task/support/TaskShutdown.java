package io.timingwheel.spring.task.support;

import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

import org.jspecify.annotations.Nullable;

/**
 * Ends the tasks of a {@link DelayedTaskRegistry} when the application shuts down.
 * Thread-safe.
 *
 * @since 0.1
 */
public final class TaskShutdown {

	private final DelayedTaskRegistry owner;

	private volatile boolean accepting = true;

	private final Lock lock = new ReentrantLock();

	private final Condition changed = this.lock.newCondition();

	/** Tells those who change something that somebody waits. */
	private volatile boolean waiting;

	/** What is due later does not run any more. */
	private volatile @Nullable Long lastDueNanos;

	TaskShutdown(DelayedTaskRegistry owner) {
		this.owner = owner;
	}

	/**
	 * Refuses new tasks from now on.
	 */
	public void stopAccepting() {
		this.accepting = false;
	}

	boolean isAccepting() {
		return this.accepting;
	}

	/**
	 * Calls off all tasks that have not begun; their futures complete as cancelled.
	 * @return how many there were
	 */
	public long cancelPending() {
		return cancelDueAfter(null);
	}

	/**
	 * Refuses new tasks, runs those that fall due within a period, calls off the others,
	 * and waits for the bodies that run.
	 * @param period how long to wait at most
	 * @return whether all tasks that had begun have ended
	 * @throws InterruptedException if the thread was interrupted; what has not begun is
	 * called off then
	 */
	public boolean runDue(Duration period) throws InterruptedException {
		stopAccepting();
		long deadline = deadline(System.nanoTime(), period);
		long last = deadline(this.owner.clock().nanoTime(), period);
		this.lastDueNanos = last;
		cancelDueAfter(last);
		try {
			await(() -> this.owner.pendingCount() == 0 && this.owner.runningCount() == 0, deadline);
		}
		finally {
			cancelDueAfter(null);
		}
		return this.owner.runningCount() == 0;
	}

	/**
	 * Waits until no body runs.
	 * @param period how long to wait at most
	 * @return whether none runs
	 * @throws InterruptedException if the thread was interrupted
	 */
	public boolean awaitRunning(Duration period) throws InterruptedException {
		return await(() -> this.owner.runningCount() == 0, deadline(System.nanoTime(), period));
	}

	void changed() {
		if (this.waiting) {
			this.lock.lock();
			try {
				this.changed.signalAll();
			}
			finally {
				this.lock.unlock();
			}
		}
	}

	void startedAgain(PendingTask task, @Nullable TaskFuture<?> future) {
		Long last = this.lastDueNanos;
		if (last != null && task.dueNanos() - last > 0) {
			task.definition().tasks().cancel(task.slot(), future);
		}
		changed();
	}

	/**
	 * Calls off the tasks that are due after a time.
	 */
	private long cancelDueAfter(@Nullable Long lastDueNanos) {
		long cancelled = 0;
		for (NamedTasks tasks : this.owner.all()) {
			for (PendingTask task : tasks.pending().values()) {
				if ((lastDueNanos == null || task.dueNanos() - lastDueNanos > 0) && tasks.cancel(task.slot())) {
					cancelled++;
				}
			}
		}
		return cancelled;
	}

	private boolean await(BooleanSupplier condition, long deadline) throws InterruptedException {
		this.waiting = true;
		this.lock.lock();
		try {
			while (!condition.getAsBoolean()) {
				if (this.changed.awaitNanos(deadline - System.nanoTime()) <= 0) {
					return condition.getAsBoolean();
				}
			}
			return true;
		}
		finally {
			this.lock.unlock();
		}
	}

	private static long deadline(long now, Duration period) {
		return now + Math.min(Nanos.of(period), Long.MAX_VALUE >> 1);
	}

}

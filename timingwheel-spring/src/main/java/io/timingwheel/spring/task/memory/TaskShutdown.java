package io.timingwheel.spring.task.memory;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

import org.jspecify.annotations.Nullable;

import org.springframework.core.task.TaskRejectedException;

/**
 * Ends the tasks of a {@link DelayedTaskRegistry} when the application shuts down. Tasks
 * ask here whether they may still run, and report that they have ended. Thread-safe.
 *
 * @since 0.1
 */
public final class TaskShutdown {

	private static final long CHECK_INTERVAL = TimeUnit.MILLISECONDS.toNanos(100);

	private final Lock lock = new ReentrantLock();

	private final Condition changed = this.lock.newCondition();

	/**
	 * Whether the shutdown waits for a change. Until then, tasks do not take the lock.
	 */
	private volatile boolean waiting;

	private volatile boolean accepting = true;

	/** The last deadline at which a task may still run; {@code null} for no limit. */
	private volatile @Nullable Long lastDueNanos;

	private volatile boolean noneMayRun;

	private final TaskEnvironment environment;

	TaskShutdown(TaskEnvironment environment) {
		this.environment = environment;
	}

	boolean isAccepting() {
		return this.accepting;
	}

	/**
	 * Checks that tasks are accepted.
	 * @throws TaskRejectedException if not
	 */
	void checkAccepting(String name) {
		if (!this.accepting) {
			throw new TaskRejectedException(
					"The task \"%s\" was not accepted: the application is shutting down".formatted(name));
		}
	}

	/**
	 * Whether a pending task that is due at a time of the wheel's clock may still run.
	 * The shutdown changes this answer before it looks for the tasks that must not run. A
	 * thread that makes a task pending asks afterwards. So one of the two cancels the
	 * task.
	 */
	boolean mayRun(long dueNanos) {
		if (this.accepting) {
			return true;
		}
		Long last = this.lastDueNanos;
		return !this.noneMayRun && (last == null || dueNanos - last <= 0);
	}

	/**
	 * Refuses new tasks from now on.
	 */
	public void stopAccepting() {
		this.accepting = false;
	}

	/**
	 * Cancels all tasks that have not begun; their futures complete as cancelled.
	 * @return how many there were
	 */
	public long cancelPending() {
		this.noneMayRun = !this.accepting;
		long cancelled = 0;
		for (NamedTasks tasks : this.environment.directory().all()) {
			for (PendingTask task : tasks.pending().values()) {
				cancelled += tasks.cancelAtShutdown(task.slot()) ? 1 : 0;
			}
		}
		return cancelled;
	}

	/**
	 * Refuses new tasks, runs the tasks that are due within a period, cancels the others
	 * and those of paused names, and waits for the bodies that run.
	 * @param period how long to wait at most; more than 146 years count as that long
	 * @return whether all tasks that had begun have ended
	 * @throws InterruptedException if the thread was interrupted; the tasks that have not
	 * begun are cancelled then too
	 */
	public boolean runDue(Duration period) throws InterruptedException {
		stopAccepting();
		if (this.environment.clock().manualTime() != null) {
			// No task falls due while nobody moves the time.
			cancelPending();
			return runningCount() == 0;
		}
		long deadline = TaskClock.deadline(System.nanoTime(), period);
		setLastDue(TaskClock.deadline(this.environment.clock().nanoTime(), period));
		cancelLate();
		try {
			await(() -> this.environment.directory().pendingCount() == 0 && runningCount() == 0, deadline);
		}
		finally {
			cancelPending();
		}
		return runningCount() == 0;
	}

	void setLastDue(long lastDueNanos) {
		this.lastDueNanos = lastDueNanos;
	}

	private void cancelLate() {
		for (NamedTasks tasks : this.environment.directory().all()) {
			for (PendingTask task : tasks.pending().values()) {
				if (tasks.isPaused() || !mayRun(task.dueNanos())) {
					tasks.cancelAtShutdown(task.slot());
				}
			}
		}
	}

	/**
	 * Waits until no body runs.
	 * @param period how long to wait at most; more than 146 years count as that long
	 * @return whether none runs
	 * @throws InterruptedException if the thread was interrupted
	 */
	public boolean awaitRunning(Duration period) throws InterruptedException {
		if (this.environment.clock().manualTime() != null) {
			// Bodies run on the thread that moves the time. A future that is not done
			// has most likely been forgotten by a test.
			return runningCount() == 0;
		}
		return await(() -> runningCount() == 0, TaskClock.deadline(System.nanoTime(), period));
	}

	/**
	 * How many tasks run, without those whose bodies wait for the end of the application.
	 * @return the number
	 */
	public long runningCount() {
		long running = this.environment.directory().runningCount();
		return (running > 0) ? Math.max(0, running - this.environment.bodies().waitingForEnd()) : 0;
	}

	/**
	 * Reports that a task has ended, was cancelled, or waits for its next run.
	 */
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

	/**
	 * Waits until a condition holds. Checks the condition after each change, and from
	 * time to time, since a body that begins to wait for the end of the application is
	 * not a change.
	 * @param deadline when to give up, by {@link System#nanoTime()}
	 * @return whether the condition holds
	 */
	private boolean await(BooleanSupplier condition, long deadline) throws InterruptedException {
		this.waiting = true;
		this.lock.lock();
		try {
			while (!condition.getAsBoolean()) {
				long left = deadline - System.nanoTime();
				if (left <= 0) {
					return false;
				}
				this.changed.awaitNanos(Math.min(left, CHECK_INTERVAL));
			}
			return true;
		}
		finally {
			this.lock.unlock();
		}
	}

}

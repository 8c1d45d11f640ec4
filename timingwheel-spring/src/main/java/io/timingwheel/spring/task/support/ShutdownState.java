package io.timingwheel.spring.task.support;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

import org.jspecify.annotations.Nullable;

import org.springframework.core.task.TaskRejectedException;

/**
 * The state of the shutdown. Tasks ask here whether they may still run, and report here
 * that they have ended. {@link TaskShutdown} changes the state. Thread-safe.
 */
final class ShutdownState {

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

	void stopAccepting() {
		this.accepting = false;
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
	 * Lets no pending task run from now on, if none is accepted any more.
	 */
	void setNoneMayRun() {
		this.noneMayRun = !this.accepting;
	}

	void setLastDue(long lastDueNanos) {
		this.lastDueNanos = lastDueNanos;
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
	boolean await(BooleanSupplier condition, long deadline) throws InterruptedException {
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

package io.timingwheel.spring.task.support;

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

	private final Lock lock = new ReentrantLock();

	private final Condition changed = this.lock.newCondition();

	/**
	 * Whether the shutdown waits for a change. Until then, tasks do not take the lock.
	 */
	private volatile boolean waiting;

	private volatile boolean accepting = true;

	/** The last deadline at which a task may still run; {@code null} for no limit. */
	private volatile @Nullable Long lastDueNanos;

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
	 * Whether a task that is due at a time of the wheel's clock may still run.
	 */
	boolean mayRun(long dueNanos) {
		Long last = this.lastDueNanos;
		return last == null || dueNanos - last <= 0;
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
	 * Waits until a condition holds. Checks the condition after each change.
	 * @param deadline when to give up, by {@link System#nanoTime()}
	 * @return whether the condition holds
	 */
	boolean await(BooleanSupplier condition, long deadline) throws InterruptedException {
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

}

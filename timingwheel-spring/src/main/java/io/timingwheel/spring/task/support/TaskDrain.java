package io.timingwheel.spring.task.support;

import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

import org.jspecify.annotations.Nullable;

/**
 * Waits, at shutdown, for tasks to run and to end.
 */
final class TaskDrain {

	private final DelayedTaskRegistry owner;

	private final Lock lock = new ReentrantLock();

	private final Condition changed = this.lock.newCondition();

	/** Tells those who change something that somebody waits. */
	private volatile boolean waiting;

	/** What is due later does not run any more. */
	private volatile @Nullable Long lastDueNanos;

	TaskDrain(DelayedTaskRegistry owner) {
		this.owner = owner;
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
	long cancelDueAfter(@Nullable Long lastDueNanos) {
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

	boolean runDue(Duration period) throws InterruptedException {
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

	boolean awaitRunning(Duration period) throws InterruptedException {
		return await(() -> this.owner.runningCount() == 0, deadline(System.nanoTime(), period));
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

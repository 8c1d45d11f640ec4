package io.timingwheel.spring.aop.internal.delayed;

import java.util.function.Consumer;

import io.timingwheel.spring.task.TaskId;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Cancels a task, in memory or in the store, for one call of a {@code @CancelDelayed}
 * method.
 */
record PendingCancellation(TaskId taskId, TaskRuntime runtime) {

	private static final Log logger = LogFactory.getLog(PendingCancellation.class);

	/**
	 * Cancels the task now. A store joins a transaction of the current thread or cancels
	 * after its commit.
	 */
	void run() {
		cancel(this.runtime.tasks()::cancel);
	}

	/**
	 * Cancels the task with the transaction of the current thread, or else now.
	 */
	void runWithTransaction() {
		cancel(this.runtime.tasks()::cancelAfterCommit);
	}

	private void cancel(Consumer<TaskId> inMemory) {
		DurableMethods durable = this.runtime.storeOf(this.taskId);
		if (durable != null) {
			durable.cancel(this.taskId);
		}
		else {
			inMemory.accept(this.taskId);
		}
	}

	/**
	 * For a time when no caller can get an exception of the store any more.
	 */
	void runOrLog() {
		try {
			run();
		}
		catch (RuntimeException ex) {
			logFailure(ex);
		}
	}

	Runnable forLater() {
		DurableMethods durable = this.runtime.storeOf(this.taskId);
		return (durable != null) ? durable.cancellation(this.taskId) : this.runtime.tasks().cancellation(this.taskId);
	}

	/**
	 * Whether the task may be in a store, whose answer the thread has to wait for.
	 */
	boolean isBlocking() {
		return this.runtime.storeOf(this.taskId) != null;
	}

	void logFailure(Throwable ex) {
		logger.error("The task \"%s\" could not be cancelled".formatted(this.taskId.name()), ex);
	}

}

package io.timingwheel.spring.task.support;

import io.timingwheel.spring.task.internal.DeferredCall;

/**
 * A cancellation that takes effect once the transaction of its caller has committed. It
 * takes only a task that was submitted before the cancellation was called.
 */
final class DeferredCancel extends DeferredCall {

	private final NamedTasks tasks;

	private final Object slot;

	private final long sequence;

	DeferredCancel(NamedTasks tasks, Object slot) {
		super(tasks.keyInTransaction(slot), Effect.CANCEL);
		this.tasks = tasks;
		this.slot = slot;
		this.sequence = tasks.environment().nextSequence();
	}

	/**
	 * Whether this cancels a task.
	 * @param sequence the sequence of the task
	 */
	boolean covers(long sequence) {
		return sequence <= this.sequence;
	}

	@Override
	protected void commit() {
		this.tasks.cancel(this.slot, (task) -> covers(task.sequence()));
	}

}

package io.timingwheel.spring.task.support;

import java.util.function.Consumer;

import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.internal.DeferredCall;

/**
 * A task that is scheduled once the transaction of its caller has committed.
 */
final class DeferredSchedule extends DeferredCall {

	private final TaskSubmission submission;

	private final Deadline due;

	private final Consumer<? super RuntimeException> errorHandler;

	DeferredSchedule(TaskSubmission submission, Deadline due, Consumer<? super RuntimeException> errorHandler) {
		super(submission.keyInTransaction(),
				(submission.ifPending() == IfPending.REPLACE) ? Effect.REPLACE : Effect.START);
		this.submission = submission;
		this.due = due;
		this.errorHandler = errorHandler;
	}

	/**
	 * Lets this task take the place of one that was submitted later but scheduled at
	 * once.
	 */
	void precede(TaskSubmission later) {
		this.submission.overlook((sequence) -> sequence == later.sequence());
	}

	@Override
	protected void commit() {
		try {
			this.submission.schedule(this.submission.definition().tasks().environment().clock().restart(this.due));
		}
		catch (RuntimeException ex) {
			// The caller's transaction has committed, so the caller must not get an
			// exception.
			if (!this.submission.fail(ex)) {
				this.errorHandler.accept(ex);
			}
		}
	}

	@Override
	protected void rollback() {
		this.submission.abandon();
	}

	@Override
	protected void override(Effect later) {
		if (later == Effect.CANCEL) {
			this.submission.cancelled();
		}
		else {
			this.submission.replaced();
		}
	}

}

package io.timingwheel.spring.durable.support;

import java.time.Duration;

import io.timingwheel.spring.durable.DueTime;
import io.timingwheel.spring.durable.Enqueued;
import io.timingwheel.spring.durable.LeaseOffer;
import io.timingwheel.spring.durable.LeasedTask;
import io.timingwheel.spring.durable.NewTask;
import io.timingwheel.spring.task.DuplicateTaskException;
import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.internal.UserErrors;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * A call that is ready to be stored: its name, key and arguments are checked.
 *
 * @param task its handle
 * @param handler its handler, {@code null} if this node has none
 * @param ifPending what to do if its key is pending
 * @param maxWait how long replacements can put it off, {@code null} for no limit
 * @param due when it is due
 * @param payload its arguments as they are stored
 * @param traceparent the trace of the caller, {@code null} for none
 * @param arguments its arguments
 */
record DurableSubmission(DurableTaskHandle task, @Nullable DurableHandler handler, IfPending ifPending,
		@Nullable Duration maxWait, DueTime due, String payload, @Nullable String traceparent,
		@Nullable Object[] arguments) {

	private static final Log logger = LogFactory.getLog(DurableSubmission.class);

	String name() {
		return this.task.name();
	}

	/**
	 * Whether the call takes the place of a pending one.
	 */
	boolean replaces() {
		return this.ifPending == IfPending.REPLACE || this.ifPending == IfPending.UPDATE;
	}

	NewTask newTask(DueTime due, @Nullable LeaseOffer offer) {
		return new NewTask(this.task.id(), name(), this.task.key(), this.payload, this.traceparent, due, this.ifPending,
				this.maxWait, offer);
	}

	/**
	 * The task on this node, if the store has leased it with its insert.
	 */
	LeasedTask leased(Enqueued enqueued) {
		return new LeasedTask(enqueued.id(), enqueued.fence(), name(), this.task.key(), this.payload, this.traceparent,
				enqueued.dueAt(), false, 1, 0, 0, false);
	}

	/**
	 * Gives way to the pending task with the same key. The handle then refers to the
	 * pending task.
	 * @throws DuplicateTaskException if the call is to be rejected
	 */
	void giveWay(String pendingId, long dueAt) {
		TaskId taskId = this.task.taskId();
		if (this.ifPending == IfPending.REJECT && taskId != null) {
			throw new DuplicateTaskException(taskId);
		}
		this.task.stored(pendingId, dueAt);
	}

	/**
	 * Tells the exception handler that the call could not be stored after the commit,
	 * when its caller can no longer get an exception.
	 */
	void failed(RuntimeException ex) {
		this.task.abandon();
		if (this.handler == null) {
			logNotStored(ex);
			return;
		}
		try {
			this.handler.handleError(ex, this.arguments);
		}
		catch (Throwable thrown) {
			logNotStored(ex);
			UserErrors.log(logger::warn,
					"The exception handler of the task \"%s\" threw an exception itself".formatted(name()), thrown);
		}
	}

	private void logNotStored(RuntimeException ex) {
		logger.error("The durable task \"%s\" could not be stored after the commit".formatted(name()), ex);
	}

}

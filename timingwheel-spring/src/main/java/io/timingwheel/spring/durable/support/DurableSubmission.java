package io.timingwheel.spring.durable.support;

import io.timingwheel.spring.durable.DueTime;
import io.timingwheel.spring.durable.Enqueued;
import io.timingwheel.spring.durable.LeaseOffer;
import io.timingwheel.spring.durable.LeasedTask;
import io.timingwheel.spring.durable.NewTask;
import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.TaskId;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * A call that is to be stored, ready to be: its arguments are known to fit.
 *
 * @param task its handle
 * @param handler its handler, {@code null} if this node has none
 * @param ifPending what to do if its key is pending
 * @param due when it is due
 * @param payload what is stored of the arguments
 * @param arguments the arguments
 */
record StoreRequest(DurableTaskHandle task, @Nullable DurableHandler handler, IfPending ifPending, DueTime due,
		String payload, @Nullable Object[] arguments) {

	private static final Log logger = LogFactory.getLog(StoreRequest.class);

	@Nullable String key() {
		TaskId taskId = this.task.taskId();
		return (taskId != null) ? taskId.key() : null;
	}

	NewTask newTask(@Nullable LeaseOffer offer) {
		return new NewTask(this.task.id(), this.task.name(), key(), this.payload, this.due, this.ifPending, offer);
	}

	/**
	 * The task as this node has it, if it was leased with its insert.
	 */
	LeasedTask leased(Enqueued enqueued) {
		return new LeasedTask(enqueued.id(), enqueued.fence(), this.task.name(), key(), this.payload, enqueued.dueAt(),
				false, 1, 0, 0);
	}

	/**
	 * It could not be stored after the commit, whose caller has no use for this.
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
			logger.warn(
					"The exception handler for the task \"%s\" threw an exception itself".formatted(this.task.name()),
					thrown);
		}
	}

	private void logNotStored(RuntimeException ex) {
		logger.error("The durable task \"%s\" could not be stored after the commit".formatted(this.task.name()), ex);
	}

}

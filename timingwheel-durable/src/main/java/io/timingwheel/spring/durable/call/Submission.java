package io.timingwheel.spring.durable.call;

import java.time.Duration;

import io.timingwheel.spring.durable.node.DurableHandler;
import io.timingwheel.spring.durable.store.DueTime;
import io.timingwheel.spring.durable.store.NewTask;
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
 * @param rules what to do if its key is pending
 * @param due when it is due
 * @param content what is stored of it
 * @param arguments its arguments
 */
record Submission(Handle task, @Nullable DurableHandler handler, Rules rules, DueTime due, Content content,
		@Nullable Object[] arguments) {

	private static final Log logger = LogFactory.getLog(Submission.class);

	String name() {
		return this.task.name();
	}

	/**
	 * Whether the call takes the place of a pending one.
	 */
	boolean replaces() {
		return this.rules.ifPending() == IfPending.REPLACE || this.rules.ifPending() == IfPending.UPDATE;
	}

	NewTask newTask(DueTime due) {
		return new NewTask(this.task.id(), name(), this.task.key(), this.content.payload(), this.content.traceparent(),
				due, this.rules.ifPending(), this.rules.maxWait());
	}

	/**
	 * Gives way to the pending task with the same key. The handle then refers to the
	 * pending task.
	 * @throws DuplicateTaskException if the call is to be rejected
	 */
	void giveWay(String pendingId, long dueAt) {
		TaskId taskId = this.task.taskId();
		if (this.rules.ifPending() == IfPending.REJECT && taskId != null) {
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

	/**
	 * What to do if the key of a call is pending.
	 *
	 * @param ifPending which of the two calls stays
	 * @param maxWait how long replacements can put it off, {@code null} for no limit
	 */
	record Rules(IfPending ifPending, @Nullable Duration maxWait) {

		static final Rules REPLACE = new Rules(IfPending.REPLACE, null);

	}

	/**
	 * What is stored of a call.
	 *
	 * @param payload its arguments
	 * @param traceparent the trace of the caller, {@code null} for none
	 */
	record Content(String payload, @Nullable String traceparent) {

	}

}

package io.timingwheel.spring.durable.call;

import java.time.Duration;

import io.timingwheel.spring.durable.node.DurableHandler;
import io.timingwheel.spring.durable.store.NewTask;
import io.timingwheel.spring.task.DuplicateTaskException;
import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.TaskId;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * A checked call that is ready to be stored.
 *
 * @param handler {@code null} if this node has none
 */
record Submission(Handle task, NewTask content, @Nullable DurableHandler handler, @Nullable Object[] arguments) {

	private static final Log logger = LogFactory.getLog(Submission.class);

	String name() {
		return this.task.name();
	}

	/**
	 * The handle then refers to the pending task.
	 * @throws DuplicateTaskException if the call is to be rejected
	 */
	void giveWay(String pendingId, long dueAt) {
		TaskId taskId = this.task.taskId();
		if (this.content.ifPending() == IfPending.REJECT && taskId != null) {
			throw new DuplicateTaskException(taskId);
		}
		this.task.stored(pendingId, dueAt);
	}

	/** Tells the exception handler, since the caller can no longer get an exception. */
	void failed(RuntimeException ex) {
		this.task.abandon();
		if (this.handler == null || !this.handler.handleError(ex, this.arguments)) {
			logger.error("The durable task \"%s\" could not be stored after the commit".formatted(name()), ex);
		}
	}

	/** What to do if the key of a call is pending. */
	record Rules(IfPending ifPending, @Nullable Duration maxWait) {

		static final Rules REPLACE = new Rules(IfPending.REPLACE, null);

	}

}

package io.timingwheel.spring.durable.call;

import io.timingwheel.spring.durable.node.DurableHandler;
import io.timingwheel.spring.durable.store.NewTask;
import io.timingwheel.spring.durable.store.Target.Kind;
import io.timingwheel.spring.task.DuplicateTaskException;
import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.internal.TaskRecorder.TaskOutcome;
import io.timingwheel.spring.task.internal.Transactions.DeferredCall;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/** A checked call that is ready to be stored, now or after the commit. */
final class Submission extends DeferredCall {

	private static final Log logger = LogFactory.getLog(Submission.class);

	private final Handle task;

	private final NewTask content;

	private final @Nullable DurableHandler handler;

	private final @Nullable Object[] arguments;

	/**
	 * @param handler {@code null} if this node has none
	 */
	Submission(PendingTasks tasks, NewTask content, Kind kind, @Nullable DurableHandler handler,
			@Nullable Object[] arguments) {
		super(tasks.parts.key(content.name(), content.key(), kind),
				(content.ifPending() == IfPending.REPLACE) ? Effect.REPLACE : Effect.START);
		this.task = new Handle(tasks, content.name(), content.key(), Handle.State.WAITING, content.id(),
				content.due().resolve(System.currentTimeMillis()));
		this.content = content;
		this.handler = handler;
		this.arguments = arguments;
	}

	Handle task() {
		return this.task;
	}

	NewTask content() {
		return this.content;
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
			logger.error("The durable task \"%s\" could not be stored after the commit".formatted(this.content.name()),
					ex);
		}
	}

	/** All calls that are still wanted are stored at once. */
	@Override
	public void commit() {
	}

	@Override
	protected void rollback() {
		this.task.abandon();
	}

	@Override
	protected void override(Effect later) {
		if (this.task.endWait(Handle.State.CANCELLED)) {
			this.task.count((later == Effect.CANCEL) ? TaskOutcome.CANCELLED : TaskOutcome.REPLACED);
		}
	}

}

package io.timingwheel.spring.durable.call;

import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

import io.timingwheel.spring.durable.node.DurableHandler;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Enqueued;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Enqueued.Outcome;
import io.timingwheel.spring.durable.store.NewTask;
import io.timingwheel.spring.durable.store.PartlyStoredException;
import io.timingwheel.spring.durable.store.StoredTask;
import io.timingwheel.spring.durable.store.Target;
import io.timingwheel.spring.durable.store.Target.Kind;
import io.timingwheel.spring.task.DuplicateTaskException;
import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.internal.TaskRecorder.TaskOutcome;
import io.timingwheel.spring.task.internal.Transactions;
import io.timingwheel.spring.task.internal.Transactions.DeferredCall.Effect;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Stores calls. The store itself looks for a pending task with the same key, but not
 * under the earlier names of the method. Thread-safe.
 */
record Storing(CallParts parts) {

	private static final Log logger = LogFactory.getLog(Storing.class);

	/**
	 * @param submissions one, or several that all replace the pending tasks with their
	 * keys
	 */
	void enqueue(List<Submission> submissions) {
		store(submissions, this::storeNow);
	}

	/**
	 * Stores calls now, or after the commit those that no later call of the transaction
	 * overrides.
	 * @param request stores the calls that are still wanted
	 */
	void store(List<Submission> submissions, Consumer<List<Submission>> request) {
		boolean deferred = this.parts.isDeferred();
		if (!deferred) {
			request.accept(submissions);
		}
		if (Transactions.isActive()) {
			submissions.forEach((each) -> each.task.awaitCommit(each.kind, each.effect()));
		}
		if (deferred) {
			CallParts.afterCommit(() -> storeAfterCommit(submissions, request));
		}
	}

	/** Exceptions go to the handlers, since the callers can no longer get them. */
	private static void storeAfterCommit(List<Submission> submissions, Consumer<List<Submission>> request) {
		List<Submission> wanted = submissions.stream()
			.filter((each) -> each.task.endWait(Handle.State.STORING))
			.toList();
		try {
			request.accept(wanted);
		}
		catch (RuntimeException ex) {
			List<Submission> failed = wanted.stream().filter((each) -> !each.task.is(Handle.State.STORED)).toList();
			if (failed.isEmpty()) {
				// A task under an earlier name could not be replaced.
				throw ex;
			}
			failed.forEach((submission) -> submission.failed(ex));
		}
	}

	private List<Target> earlierNames(Submission submission) {
		return this.parts.earlierNames(submission.task.taskId(), Kind.ONCE);
	}

	private void storeNow(List<Submission> submissions) {
		if (submissions.isEmpty()) {
			return;
		}
		Submission first = submissions.get(0);
		Optional<StoredTask> earlier = first.content.replaces() ? Optional.empty()
				: this.parts.find(earlierNames(first)).findFirst();
		if (earlier.isPresent()) {
			first.giveWay(earlier.get().id(), earlier.get().dueAt());
			return;
		}
		try {
			stored(submissions, this.parts.store().enqueue(submissions.stream().map(Submission::content).toList()));
		}
		catch (PartlyStoredException ex) {
			stored(submissions, ex.enqueued());
			throw ex.failure();
		}
	}

	private void stored(List<Submission> submissions, List<? extends @Nullable Enqueued> enqueued) {
		for (int i = 0; i < submissions.size(); i++) {
			Enqueued one = enqueued.get(i);
			if (one != null) {
				stored(submissions.get(i), one);
			}
		}
		// After all new tasks are stored: a failure in between leaves both, not none.
		for (Submission submission : submissions) {
			replaceEarlierNames(submission);
		}
	}

	private void stored(Submission submission, Enqueued enqueued) {
		if (enqueued.outcome() == Outcome.PENDING) {
			submission.giveWay(enqueued.id(), enqueued.dueAt());
			return;
		}
		submission.task.stored(enqueued.id(), enqueued.dueAt());
		this.parts.expect(submission.content.name(), enqueued.dueAt() - enqueued.now());
		if (enqueued.outcome() == Outcome.REPLACED) {
			submission.task.count(TaskOutcome.REPLACED);
		}
	}

	private void replaceEarlierNames(Submission submission) {
		if (submission.content.replaces() && submission.task.is(Handle.State.STORED)) {
			for (Target earlier : earlierNames(submission)) {
				if (this.parts.store().cancel(earlier)) {
					submission.task.count(TaskOutcome.REPLACED);
				}
			}
		}
	}

	/**
	 * A checked call that is ready to be stored, now or after the commit.
	 *
	 * @param handler {@code null} if this node has none
	 */
	record Submission(Handle task, NewTask content, Kind kind, @Nullable DurableHandler handler,
			@Nullable Object[] arguments) {

		private Effect effect() {
			return (this.content.ifPending() == IfPending.REPLACE) ? Effect.REPLACE : Effect.START;
		}

		/**
		 * The handle then refers to the pending task.
		 * @throws DuplicateTaskException if the call is to be rejected
		 */
		private void giveWay(String pendingId, long dueAt) {
			TaskId taskId = this.task.taskId();
			if (this.content.ifPending() == IfPending.REJECT && taskId != null) {
				throw new DuplicateTaskException(taskId);
			}
			this.task.stored(pendingId, dueAt);
		}

		/**
		 * Tells the exception handler, since the caller can no longer get an exception.
		 */
		private void failed(RuntimeException ex) {
			this.task.abandon();
			if (this.handler == null || !this.handler.handleError(ex, this.arguments)) {
				logger.error(
						"The durable task \"%s\" could not be stored after the commit".formatted(this.content.name()),
						ex);
			}
		}

	}

}

package io.timingwheel.spring.durable.call;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

import io.timingwheel.spring.durable.call.CallerTransaction.Due;
import io.timingwheel.spring.durable.call.CallerTransaction.Key;
import io.timingwheel.spring.durable.store.DueTime;
import io.timingwheel.spring.durable.store.Enqueued;
import io.timingwheel.spring.durable.store.Enqueued.Outcome;
import io.timingwheel.spring.durable.store.NewTask;
import io.timingwheel.spring.durable.store.PartlyStoredException;
import io.timingwheel.spring.durable.store.StoredTask;
import io.timingwheel.spring.durable.store.Target;
import io.timingwheel.spring.durable.store.Target.Kind;
import io.timingwheel.spring.task.DuplicateTaskException;
import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.internal.DeferredCall;
import io.timingwheel.spring.task.internal.DeferredCall.Effect;
import io.timingwheel.spring.task.internal.TaskOutcome;
import io.timingwheel.spring.task.internal.Transactions;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Stores calls in the caller's transaction. If the store takes no part in the
 * transaction, stores them after the commit. Thread-safe.
 */
final class Storing {

	private static final Log logger = LogFactory.getLog(Storing.class);

	private final CallParts parts;

	private final CallerTransaction transaction;

	Storing(CallParts parts, CallerTransaction transaction) {
		this.parts = parts;
		this.transaction = transaction;
	}

	/**
	 * Stores calls.
	 * @param submissions one, or several that replace the pending tasks with their keys
	 * @throws DuplicateTaskException if a single submission asks for rejection and its
	 * key is pending
	 */
	void enqueue(List<Submission> submissions) {
		Transactions.runReady();
		if (!this.transaction.isDeferred()) {
			store(submissions);
			this.transaction.onRollback(() -> submissions.forEach((submission) -> submission.task().abandon()));
		}
		else if (!givesWayBeforeCommit(submissions.get(0), submissions.size())) {
			Batch batch = new Batch(submissions);
			submissions.forEach((submission) -> Transactions.defer(new StoreCall(batch, submission)));
		}
	}

	/**
	 * Gives way before the commit, as KEEP and REJECT ask. What earlier calls of the
	 * transaction are going to do counts as done.
	 * @return {@code false} if the submission has to be stored after the commit
	 */
	private boolean givesWayBeforeCommit(Submission submission, int calls) {
		Effect earlier = this.transaction.earlier(key(submission));
		if (earlier == Effect.NONE) {
			return calls == 1 && givesWay(submission, true);
		}
		TaskId taskId = submission.task().taskId();
		if (taskId != null && earlier.leavesPending() && submission.rules().ifPending() == IfPending.REJECT) {
			throw new DuplicateTaskException(taskId);
		}
		return false;
	}

	private @Nullable Key key(Submission submission) {
		TaskId taskId = submission.task().taskId();
		return (taskId != null) ? this.transaction.key(taskId, Kind.ONCE) : null;
	}

	/**
	 * Gives way to the task that is pending with the same key, as KEEP and REJECT ask.
	 * The store looks for such a task itself, but not under the earlier names.
	 * @param anyName whether to look under the current name too
	 * @return whether there is such a task
	 */
	private boolean givesWay(Submission submission, boolean anyName) {
		if (submission.replaces()) {
			return false;
		}
		Optional<StoredTask> pending = findPending(submission, anyName);
		pending.ifPresent((task) -> submission.giveWay(task.id(), task.dueAt()));
		return pending.isPresent();
	}

	private Optional<StoredTask> findPending(Submission submission, boolean anyName) {
		return ids(submission, anyName).stream()
			.flatMap((id) -> this.parts.store().find(Target.of(id, Kind.ONCE)).stream())
			.findFirst();
	}

	/**
	 * The key of a submission under the names of its method.
	 * @param anyName whether the current name counts too, or the earlier ones alone
	 */
	private List<TaskId> ids(Submission submission, boolean anyName) {
		String key = submission.task().key();
		if (key == null) {
			return List.of();
		}
		return this.parts.handlers()
			.allNames(submission.name())
			.stream()
			.skip(anyName ? 0 : 1)
			.map((name) -> new TaskId(name, key))
			.toList();
	}

	private void store(List<Submission> submissions) {
		if (submissions.size() == 1 && givesWay(submissions.get(0), false)) {
			return;
		}
		List<NewTask> tasks = submissions.stream().map((submission) -> submission.newTask(due(submission))).toList();
		List<? extends @Nullable Enqueued> enqueued;
		RuntimeException failure = null;
		try {
			enqueued = this.parts.store().enqueue(tasks);
		}
		catch (PartlyStoredException ex) {
			enqueued = ex.enqueued();
			failure = ex.failure();
		}
		stored(submissions, enqueued);
		replaceAliases(submissions, failure);
	}

	/**
	 * When a task is due. For UPDATE the store looks for the pending task itself, but not
	 * under the earlier names.
	 */
	private DueTime due(Submission submission) {
		if (submission.rules().ifPending() != IfPending.UPDATE) {
			return submission.due();
		}
		return findPending(submission, false).map((task) -> DueTime.at(Instant.ofEpochMilli(task.dueAt())))
			.orElse(submission.due());
	}

	private void stored(List<Submission> submissions, List<? extends @Nullable Enqueued> enqueued) {
		List<Due> due = new ArrayList<>(submissions.size());
		long now = Long.MIN_VALUE;
		for (int i = 0; i < submissions.size(); i++) {
			Submission submission = submissions.get(i);
			Enqueued one = enqueued.get(i);
			if (one == null) {
				continue;
			}
			now = Math.max(now, one.now());
			if (one.outcome() == Outcome.PENDING) {
				submission.giveWay(one.id(), one.dueAt());
				continue;
			}
			submission.task().stored(one.id(), one.dueAt());
			due.add(new Due(submission.name(), one.dueAt()));
			if (one.outcome() == Outcome.REPLACED) {
				countReplaced(submission.name());
			}
		}
		if (!due.isEmpty()) {
			this.transaction.expect(due, now);
		}
	}

	/**
	 * Cancels the pending tasks with the same keys under earlier names. This happens
	 * after the new tasks are stored, so that a failure in between leaves both tasks, not
	 * none.
	 * @param failure why some of the tasks are not stored, {@code null} if all are
	 */
	private void replaceAliases(List<Submission> submissions, @Nullable RuntimeException failure) {
		try {
			submissions.stream()
				.filter((submission) -> submission.replaces() && submission.task().isStored())
				.flatMap((submission) -> ids(submission, false).stream())
				.filter((id) -> this.parts.store().cancel(Target.of(id, Kind.ONCE)))
				.forEach((id) -> countReplaced(id.name()));
		}
		catch (RuntimeException ex) {
			if (failure == null) {
				throw ex;
			}
			failure.addSuppressed(ex);
		}
		if (failure != null) {
			throw failure;
		}
	}

	private void countReplaced(String name) {
		this.transaction.onceCertain(() -> this.parts.recorder(name).count(TaskOutcome.REPLACED));
	}

	/**
	 * Stores calls after the commit, with one request for all of them. The exception
	 * handlers get an exception, since the callers can no longer get it.
	 */
	private final class Batch {

		private final List<Submission> submissions;

		private boolean done;

		Batch(List<Submission> submissions) {
			this.submissions = submissions;
		}

		void commit() {
			if (this.done) {
				return;
			}
			this.done = true;
			List<Submission> wanted = this.submissions.stream()
				.filter((submission) -> submission.task().beginStoring())
				.toList();
			if (wanted.isEmpty()) {
				return;
			}
			try {
				store(wanted);
			}
			catch (RuntimeException ex) {
				List<Submission> failed = wanted.stream()
					.filter((submission) -> !submission.task().isStored())
					.toList();
				failed.forEach((submission) -> submission.failed(ex));
				if (failed.isEmpty()) {
					logger
						.error("The durable tasks were stored after the commit, but they may not have replaced what is"
								+ " pending under earlier names", ex);
				}
			}
		}

	}

	/**
	 * A call that waits for the commit before it is stored, unless a later call of the
	 * transaction cancels or replaces its task.
	 */
	private final class StoreCall extends DeferredCall {

		private final Batch batch;

		private final Submission submission;

		StoreCall(Batch batch, Submission submission) {
			super(key(submission),
					(submission.rules().ifPending() == IfPending.REPLACE) ? Effect.REPLACE : Effect.START);
			this.batch = batch;
			this.submission = submission;
		}

		@Override
		protected void commit() {
			this.batch.commit();
		}

		@Override
		protected void rollback() {
			this.submission.task().abandon();
		}

		@Override
		protected void override(Effect later) {
			if (this.submission.task().withdraw()) {
				Storing.this.parts.recorder(this.submission.name())
					.count((later == Effect.CANCEL) ? TaskOutcome.CANCELLED : TaskOutcome.REPLACED);
			}
		}

	}

}

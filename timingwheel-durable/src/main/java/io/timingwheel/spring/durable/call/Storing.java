package io.timingwheel.spring.durable.call;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

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
import io.timingwheel.spring.task.internal.DeferredCall.Effect;
import io.timingwheel.spring.task.internal.TaskOutcome;
import org.jspecify.annotations.Nullable;

/**
 * Stores calls. The store itself looks for a pending task with the same key, but not
 * under the earlier names of the method. Thread-safe.
 */
final class Storing {

	private final CallParts parts;

	Storing(CallParts parts) {
		this.parts = parts;
	}

	/**
	 * @param submissions one, or several that all replace the pending tasks with their
	 * keys
	 */
	void enqueue(List<Submission> submissions) {
		if (!this.parts.isDeferred() || !givesWayBeforeCommit(submissions.get(0))) {
			this.parts.store(submissions, this::store);
		}
	}

	/**
	 * What earlier calls of the transaction are going to do counts as done.
	 * @return {@code false} if the submission has to be stored after the commit
	 */
	private boolean givesWayBeforeCommit(Submission submission) {
		TaskId id = submission.task().taskId();
		if (id == null || submission.content().replaces()) {
			return false;
		}
		Effect earlier = this.parts.earlier(this.parts.key(id.name(), id.key(), Kind.ONCE));
		if (earlier == Effect.NONE) {
			return givesWay(submission, this.parts.find(this.parts.targets(id, Kind.ONCE)).findFirst());
		}
		if (earlier.leavesPending() && submission.content().ifPending() == IfPending.REJECT) {
			throw new DuplicateTaskException(id);
		}
		return false;
	}

	private static boolean givesWay(Submission submission, Optional<StoredTask> pending) {
		pending.ifPresent((task) -> submission.giveWay(task.id(), task.dueAt()));
		return pending.isPresent();
	}

	private List<Target> earlierNames(Submission submission) {
		return this.parts.earlierNames(submission.task().taskId(), Kind.ONCE);
	}

	private void store(List<Submission> submissions) {
		List<NewTask> tasks = new ArrayList<>();
		for (Submission submission : submissions) {
			NewTask task = submission.content();
			Optional<StoredTask> pending = (task.ifPending() != IfPending.REPLACE)
					? this.parts.find(earlierNames(submission)).findFirst() : Optional.empty();
			if (!task.replaces() && givesWay(submission, pending)) {
				return;
			}
			tasks.add(pending.map((earlier) -> withDueTime(task, earlier.dueAt())).orElse(task));
		}
		List<? extends @Nullable Enqueued> enqueued;
		RuntimeException failure = null;
		try {
			enqueued = this.parts.store().enqueue(tasks);
		}
		catch (PartlyStoredException ex) {
			enqueued = ex.enqueued();
			failure = ex.failure();
		}
		for (int i = 0; i < submissions.size(); i++) {
			Enqueued one = enqueued.get(i);
			if (one != null) {
				stored(submissions.get(i), one);
			}
		}
		submissions.forEach(this::replaceEarlierNames);
		if (failure != null) {
			throw failure;
		}
	}

	/** UPDATE keeps the due time of a task that is pending under an earlier name. */
	private static NewTask withDueTime(NewTask task, long dueAt) {
		return new NewTask(task.id(), task.name(), task.key(), task.payload(), task.traceparent(),
				DueTime.at(Instant.ofEpochMilli(dueAt)), task.ifPending(), task.maxWait());
	}

	private void stored(Submission submission, Enqueued enqueued) {
		if (enqueued.outcome() == Outcome.PENDING) {
			submission.giveWay(enqueued.id(), enqueued.dueAt());
			return;
		}
		submission.task().stored(enqueued.id(), enqueued.dueAt());
		this.parts.expect(submission.content().name(), enqueued.dueAt(), enqueued.now());
		if (enqueued.outcome() == Outcome.REPLACED) {
			submission.task().count(TaskOutcome.REPLACED);
		}
	}

	/** After all new tasks are stored: a failure in between leaves both, not none. */
	private void replaceEarlierNames(Submission submission) {
		if (submission.content().replaces() && submission.task().is(Handle.State.STORED)) {
			earlierNames(submission).stream()
				.filter(this.parts.store()::cancel)
				.forEach((target) -> submission.task().count(TaskOutcome.REPLACED));
		}
	}

}

package io.timingwheel.spring.durable.call;

import java.time.Instant;
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
			this.parts.store(submissions, Kind.ONCE, this::store);
		}
	}

	/**
	 * What earlier calls of the transaction are going to do counts as done.
	 * @return {@code false} if the submission has to be stored after the commit
	 */
	private boolean givesWayBeforeCommit(Submission submission) {
		TaskId id = submission.task().taskId();
		Effect earlier = this.parts.earlier(this.parts.key(id, Kind.ONCE));
		if (earlier == Effect.NONE) {
			return givesWay(submission, true);
		}
		if (id != null && earlier.leavesPending() && submission.content().ifPending() == IfPending.REJECT) {
			throw new DuplicateTaskException(id);
		}
		return false;
	}

	/**
	 * Gives way to a pending task with the same key, as KEEP and REJECT ask.
	 * @param anyName whether to look under the current name too
	 */
	private boolean givesWay(Submission submission, boolean anyName) {
		if (submission.content().replaces()) {
			return false;
		}
		Optional<StoredTask> pending = findPending(submission, anyName);
		pending.ifPresent((task) -> submission.giveWay(task.id(), task.dueAt()));
		return pending.isPresent();
	}

	private Optional<StoredTask> findPending(Submission submission, boolean anyName) {
		return this.parts.find(targets(submission, anyName)).findFirst();
	}

	private List<Target> targets(Submission submission, boolean anyName) {
		TaskId id = submission.task().taskId();
		List<Target> targets = (id != null) ? this.parts.targets(id, Kind.ONCE) : List.of();
		return (anyName || targets.isEmpty()) ? targets : targets.subList(1, targets.size());
	}

	private void store(List<Submission> submissions) {
		if (givesWay(submissions.get(0), false)) {
			return;
		}
		List<NewTask> tasks = submissions.stream().map(this::withDueTime).toList();
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
		replaceAliases(submissions);
		if (failure != null) {
			throw failure;
		}
	}

	/** UPDATE keeps the due time of a task that is pending under an earlier name. */
	private NewTask withDueTime(Submission submission) {
		NewTask task = submission.content();
		if (task.ifPending() != IfPending.UPDATE) {
			return task;
		}
		return findPending(submission, false)
			.map((pending) -> new NewTask(task.id(), task.name(), task.key(), task.payload(), task.traceparent(),
					DueTime.at(Instant.ofEpochMilli(pending.dueAt())), task.ifPending(), task.maxWait()))
			.orElse(task);
	}

	private void stored(Submission submission, Enqueued enqueued) {
		if (enqueued.outcome() == Outcome.PENDING) {
			submission.giveWay(enqueued.id(), enqueued.dueAt());
			return;
		}
		submission.task().stored(enqueued.id(), enqueued.dueAt());
		this.parts.expect(submission.name(), enqueued.dueAt(), enqueued.now());
		if (enqueued.outcome() == Outcome.REPLACED) {
			this.parts.count(submission.name(), TaskOutcome.REPLACED);
		}
	}

	/**
	 * After the new tasks are stored, so that a failure in between leaves both, not none.
	 */
	private void replaceAliases(List<Submission> submissions) {
		for (Submission submission : submissions) {
			if (submission.content().replaces() && submission.task().isStored()) {
				targets(submission, false).stream()
					.filter(this.parts.store()::cancel)
					.forEach((target) -> this.parts.count(submission.name(), TaskOutcome.REPLACED));
			}
		}
	}

}

package io.timingwheel.spring.durable.call;

import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

import io.timingwheel.spring.durable.store.Enqueued;
import io.timingwheel.spring.durable.store.Enqueued.Outcome;
import io.timingwheel.spring.durable.store.PartlyStoredException;
import io.timingwheel.spring.durable.store.StoredTask;
import io.timingwheel.spring.durable.store.Target;
import io.timingwheel.spring.durable.store.Target.Kind;
import io.timingwheel.spring.task.internal.TaskRecorder.TaskOutcome;
import io.timingwheel.spring.task.internal.Transactions;
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
			submissions.forEach(Transactions::defer);
		}
		if (deferred) {
			CallParts.afterCommit(() -> storeAfterCommit(submissions, request));
		}
	}

	/** Exceptions go to the handlers, since the callers can no longer get them. */
	private static void storeAfterCommit(List<Submission> submissions, Consumer<List<Submission>> request) {
		List<Submission> wanted = submissions.stream()
			.filter((each) -> each.task().endWait(Handle.State.STORING))
			.toList();
		try {
			if (!wanted.isEmpty()) {
				request.accept(wanted);
			}
		}
		catch (RuntimeException ex) {
			List<Submission> failed = wanted.stream().filter((each) -> !each.task().is(Handle.State.STORED)).toList();
			if (failed.isEmpty()) {
				// A task under an earlier name could not be replaced.
				throw ex;
			}
			failed.forEach((submission) -> submission.failed(ex));
		}
	}

	private List<Target> earlierNames(Submission submission) {
		return this.parts.earlierNames(submission.task().taskId(), Kind.ONCE);
	}

	private void storeNow(List<Submission> submissions) {
		Submission first = submissions.get(0);
		Optional<StoredTask> earlier = first.content().replaces() ? Optional.empty()
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
		submission.task().stored(enqueued.id(), enqueued.dueAt());
		this.parts.expect(submission.content().name(), enqueued.dueAt() - enqueued.now());
		if (enqueued.outcome() == Outcome.REPLACED) {
			submission.task().count(TaskOutcome.REPLACED);
		}
	}

	private void replaceEarlierNames(Submission submission) {
		if (submission.content().replaces() && submission.task().is(Handle.State.STORED)) {
			for (Target earlier : earlierNames(submission)) {
				if (this.parts.store().cancel(earlier)) {
					submission.task().count(TaskOutcome.REPLACED);
				}
			}
		}
	}

}

package io.timingwheel.spring.durable.support;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

import io.timingwheel.spring.durable.DelayedTaskStore.Kind;
import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.DueTime;
import io.timingwheel.spring.durable.Enqueued;
import io.timingwheel.spring.durable.LeasedTask;
import io.timingwheel.spring.durable.NewTask;
import io.timingwheel.spring.durable.PartlyStoredException;
import io.timingwheel.spring.durable.StoredTask;
import io.timingwheel.spring.task.DuplicateTaskException;
import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.internal.DeferredCall.Effect;
import io.timingwheel.spring.task.internal.TaskOutcome;
import io.timingwheel.spring.task.internal.Transactions;
import io.timingwheel.spring.task.support.DelayedTaskRegistry;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Stores submissions in the caller's transaction. If the store takes no part in the
 * transaction, stores them after the commit. A task that is due soon is leased with the
 * request that stores it, and goes to the wheel of this node after the commit.
 * Thread-safe.
 */
final class TaskEnqueuer {

	private static final Log logger = LogFactory.getLog(TaskEnqueuer.class);

	private final DelayedTaskStore store;

	private final SharedEnqueues shared;

	private final CallerTransaction transaction;

	private final DurableHandlerRegistry handlers;

	private final DelayedTaskRegistry tasks;

	private final TaskIntake intake;

	private final StoreClock clock;

	private final Runnable onChange;

	TaskEnqueuer(DelayedTaskStore store, CallerTransaction transaction, DurableHandlerRegistry handlers,
			DelayedTaskRegistry tasks, TaskIntake intake, StoreClock clock, Runnable onChange) {
		this.store = store;
		this.shared = new SharedEnqueues(store);
		this.transaction = transaction;
		this.handlers = handlers;
		this.tasks = tasks;
		this.intake = intake;
		this.clock = clock;
		this.onChange = onChange;
	}

	/**
	 * Stores submissions.
	 * @param submissions one, or several that replace the pending tasks with their keys
	 * @throws DuplicateTaskException if a single submission asks for rejection and its
	 * key is pending
	 */
	void enqueue(List<DurableSubmission> submissions) {
		Transactions.runReady();
		if (!this.transaction.isDeferred()) {
			store(submissions);
			this.transaction.onRollback(() -> abandon(submissions));
		}
		else if (!givesWayBeforeCommit(submissions)) {
			submissions.forEach(this::deferOverride);
			this.transaction.defer(() -> storeAfterCommit(submissions), () -> abandon(submissions));
		}
	}

	private static void abandon(List<DurableSubmission> submissions) {
		submissions.forEach((submission) -> submission.task().abandon());
	}

	/**
	 * Gives way before the commit, as KEEP and REJECT ask. What earlier calls of the
	 * transaction are going to do counts as done.
	 * @return {@code false} if the submissions have to be stored after the commit
	 */
	private boolean givesWayBeforeCommit(List<DurableSubmission> submissions) {
		DurableSubmission first = submissions.get(0);
		TaskId id = canonicalId(first);
		Effect earlier = (id != null) ? this.transaction.effectOfEarlierCalls(this.transaction.key(id, Kind.ONCE))
				: Effect.NONE;
		if (earlier == Effect.NONE) {
			return givesWay(submissions, true);
		}
		if (earlier.leavesPending() && first.ifPending() == IfPending.REJECT) {
			throw new DuplicateTaskException(new TaskId(first.name(), Objects.requireNonNull(id).key()));
		}
		return false;
	}

	/**
	 * Keeps a submission from being stored if a later call of the transaction cancels or
	 * replaces its task.
	 */
	private void deferOverride(DurableSubmission submission) {
		TaskId id = canonicalId(submission);
		if (id == null) {
			return;
		}
		Effect effect = (submission.ifPending() == IfPending.REPLACE) ? Effect.REPLACE : Effect.START;
		this.transaction.deferOverride(this.transaction.key(id, Kind.ONCE), effect, submission.task(),
				(later) -> this.tasks.recorder(id.name())
					.count((later == Effect.CANCEL) ? TaskOutcome.CANCELLED : TaskOutcome.REPLACED));
	}

	private @Nullable TaskId canonicalId(DurableSubmission submission) {
		String key = submission.task().key();
		return (key != null) ? new TaskId(this.handlers.canonicalName(submission.name()), key) : null;
	}

	/**
	 * Stores the submissions whose tasks nobody has withdrawn before the commit. The
	 * exception handlers get an exception, since the caller can no longer get it.
	 */
	private void storeAfterCommit(List<DurableSubmission> deferred) {
		List<DurableSubmission> submissions = deferred.stream()
			.filter((submission) -> submission.task().beginStoring())
			.toList();
		if (submissions.isEmpty()) {
			return;
		}
		try {
			store(submissions);
		}
		catch (RuntimeException ex) {
			List<DurableSubmission> failed = submissions.stream()
				.filter((submission) -> !submission.task().isStored())
				.toList();
			failed.forEach((submission) -> submission.failed(ex));
			if (failed.isEmpty()) {
				logger.error("The durable tasks were stored after the commit, but they may not have replaced what is"
						+ " pending under earlier names", ex);
			}
		}
	}

	private void store(List<DurableSubmission> submissions) {
		if (givesWay(submissions, false)) {
			return;
		}
		long sent = this.clock.wheelNanos();
		List<NewTask> tasks = new ArrayList<>(submissions.size());
		for (DurableSubmission submission : submissions) {
			DueTime due = due(submission);
			tasks.add(submission.newTask(due, this.intake.offer(submission.name(), due)));
		}
		List<? extends @Nullable Enqueued> enqueued = List.of();
		RuntimeException failure = null;
		try {
			enqueued = (tasks.size() == 1) ? List.of(this.shared.enqueue(tasks.get(0))) : this.store.enqueueAll(tasks);
		}
		catch (PartlyStoredException ex) {
			enqueued = ex.enqueued();
			failure = ex.failure();
		}
		finally {
			withdrawOffers(tasks, enqueued);
		}
		stored(submissions, enqueued, sent);
		this.onChange.run();
		this.transaction.onceCertain(this.onChange);
		replaceAliases(submissions, failure);
	}

	/**
	 * Gives way to the task that is pending with the same key, as KEEP and REJECT ask.
	 * The store looks for such a task itself, but not under the earlier names.
	 * @param anyName whether to look under the current name too
	 * @return whether there is such a task
	 */
	private boolean givesWay(List<DurableSubmission> submissions, boolean anyName) {
		if (submissions.size() != 1 || submissions.get(0).replaces()) {
			return false;
		}
		DurableSubmission submission = submissions.get(0);
		Optional<StoredTask> pending = findPending(submission, anyName);
		pending.ifPresent((task) -> submission.giveWay(task.id(), task.dueAt()));
		return pending.isPresent();
	}

	/**
	 * When a task is due. For UPDATE the store looks for the pending task itself, but not
	 * under the earlier names.
	 */
	private DueTime due(DurableSubmission submission) {
		if (submission.ifPending() != IfPending.UPDATE) {
			return submission.due();
		}
		return findPending(submission, false).map((task) -> DueTime.at(Instant.ofEpochMilli(task.dueAt())))
			.orElse(submission.due());
	}

	private Optional<StoredTask> findPending(DurableSubmission submission, boolean anyName) {
		return ids(submission, anyName).stream().flatMap((id) -> this.store.find(id, Kind.ONCE).stream()).findFirst();
	}

	private void withdrawOffers(List<NewTask> tasks, List<? extends @Nullable Enqueued> enqueued) {
		int unused = 0;
		for (NewTask task : tasks) {
			unused += (task.lease() != null) ? 1 : 0;
		}
		for (Enqueued task : enqueued) {
			unused -= (task != null && task.leased()) ? 1 : 0;
		}
		this.intake.withdrawOffers(unused);
	}

	private void stored(List<DurableSubmission> submissions, List<? extends @Nullable Enqueued> enqueued, long sent) {
		long now = Long.MIN_VALUE;
		for (Enqueued one : enqueued) {
			now = (one != null) ? Math.max(now, one.now()) : now;
		}
		if (now == Long.MIN_VALUE) {
			return;
		}
		long ahead = this.clock.heard(now, sent);
		for (int i = 0; i < submissions.size(); i++) {
			Enqueued one = enqueued.get(i);
			if (one != null) {
				stored(submissions.get(i), one, ahead);
			}
		}
	}

	private void stored(DurableSubmission submission, Enqueued enqueued, long ahead) {
		switch (enqueued.outcome()) {
			case PENDING -> submission.giveWay(enqueued.id(), enqueued.dueAt());
			case INSERTED -> submission.task().stored(enqueued.id(), enqueued.dueAt());
			case REPLACED -> {
				submission.task().stored(enqueued.id(), enqueued.dueAt());
				countReplaced(submission.name());
			}
		}
		if (enqueued.leased()) {
			LeasedTask task = submission.leased(enqueued);
			this.transaction.onceCertain(() -> this.intake.accept(task, LeaseTerm.NONE, ahead),
					() -> this.intake.withdrawOffers(1));
		}
		else if (enqueued.outcome() != Enqueued.Outcome.PENDING && this.intake.isLimited(submission.name())) {
			this.transaction.onceCertain(() -> this.intake.expect(enqueued.dueAt(), ahead));
		}
	}

	/**
	 * Cancels the pending tasks with the same keys under earlier names. This happens
	 * after the new tasks are stored, so that a failure in between leaves both tasks, not
	 * none.
	 */
	private void replaceAliases(List<DurableSubmission> submissions, @Nullable RuntimeException failure) {
		try {
			for (DurableSubmission submission : submissions) {
				if (submission.replaces() && submission.task().isStored()) {
					replaceAliases(submission);
				}
			}
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

	private void replaceAliases(DurableSubmission submission) {
		for (TaskId id : ids(submission, false)) {
			if (this.store.cancel(id, Kind.ONCE)) {
				countReplaced(id.name());
			}
		}
	}

	/**
	 * The key of a submission under the names of its handler.
	 * @param anyName whether the current name counts too, or the earlier ones alone
	 */
	private List<TaskId> ids(DurableSubmission submission, boolean anyName) {
		String key = submission.task().key();
		if (key == null) {
			return List.of();
		}
		return this.handlers.allNames(submission.name())
			.stream()
			.skip(anyName ? 0 : 1)
			.map((name) -> new TaskId(name, key))
			.toList();
	}

	private void countReplaced(String name) {
		this.transaction
			.onceCertain(() -> this.tasks.recorder(this.handlers.canonicalName(name)).count(TaskOutcome.REPLACED));
	}

}

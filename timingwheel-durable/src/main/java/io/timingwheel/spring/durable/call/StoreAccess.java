package io.timingwheel.spring.durable.call;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.ObjLongConsumer;
import java.util.stream.Stream;

import io.timingwheel.spring.durable.node.DurableHandler;
import io.timingwheel.spring.durable.node.DurableHandlers;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Enqueued;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Enqueued.Outcome;
import io.timingwheel.spring.durable.store.NewTask;
import io.timingwheel.spring.durable.store.PartlyStoredException;
import io.timingwheel.spring.durable.store.StoredTask;
import io.timingwheel.spring.durable.store.Target;
import io.timingwheel.spring.durable.store.Target.Kind;
import io.timingwheel.spring.durable.store.TaskLimits;
import io.timingwheel.spring.task.DuplicateTaskException;
import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.internal.TaskRecorder;
import io.timingwheel.spring.task.internal.TaskRecorder.TaskOutcome;
import io.timingwheel.spring.task.internal.Transactions;
import io.timingwheel.spring.task.internal.Transactions.DeferredCall.Effect;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * How calls reach the store. Either the store takes part in the transaction of the
 * calling thread, or calls wait for the commit, in the order that {@link Transactions}
 * describes. Thread-safe.
 *
 * @param nanoTime the clock of this node
 * @param node is told of the tasks that have certainly been stored or moved, with the
 * milliseconds until they are due
 */
public record StoreAccess(DelayedTaskStore store, DurableHandlers handlers, Function<String, TaskRecorder> recorders,
		LongSupplier nanoTime, ObjLongConsumer<String> node) {

	private static final Log logger = LogFactory.getLog(StoreAccess.class);

	/**
	 * A key under all names of its method, the current name first; nothing if no store
	 * can have such a task.
	 */
	List<Target> targets(TaskId id, Kind kind) {
		return !TaskLimits.isStorable(id) ? List.of()
				: this.handlers.allNames(id.name())
					.stream()
					.map((name) -> Target.of(new TaskId(name, id.key()), kind))
					.toList();
	}

	List<Target> earlierNames(@Nullable TaskId id, Kind kind) {
		// Most methods have one name.
		return (id == null || this.handlers.allNames(id.name()).size() == 1) ? List.of()
				: targets(id, kind).stream().skip(1).toList();
	}

	Stream<StoredTask> find(List<Target> targets) {
		return targets.stream().flatMap((target) -> this.store.find(target).stream());
	}

	boolean isDeferred() {
		return Transactions.isActive() && !this.store.joinsTransaction();
	}

	/**
	 * What a call of a transaction is about. Calls about a task that runs once and about
	 * a schedule with its key do not affect each other.
	 */
	@Nullable Target key(String name, @Nullable String key, Kind kind) {
		return (key != null) ? Target.of(new TaskId(this.handlers.canonicalName(name), key), kind) : null;
	}

	void count(String name, TaskOutcome outcome) {
		Transactions.afterCommit(() -> this.recorders.apply(this.handlers.canonicalName(name)).count(outcome));
	}

	/**
	 * Tells the node of a task that was stored or moved.
	 * @param millis how long before the due time the store did so
	 */
	void expect(String name, long millis) {
		long heard = this.nanoTime.getAsLong();
		Transactions.afterCommit(() -> this.node.accept(name,
				millis - TimeUnit.NANOSECONDS.toMillis(this.nanoTime.getAsLong() - heard)));
	}

	/**
	 * @param submissions one, or several that all replace the pending tasks with their
	 * keys
	 */
	void enqueue(List<Submission> submissions) {
		store(submissions, this::enqueueNow);
	}

	/**
	 * Stores calls now, or after the commit those that no later call of the transaction
	 * overrides.
	 * @param request stores the calls that are still wanted
	 */
	void store(List<Submission> submissions, Consumer<List<Submission>> request) {
		boolean deferred = isDeferred();
		if (!deferred) {
			request.accept(submissions);
		}
		if (Transactions.isActive()) {
			submissions.forEach((each) -> each.task.awaitCommit(each.kind,
					(each.content.ifPending() == IfPending.REPLACE) ? Effect.REPLACE : Effect.START));
		}
		if (deferred) {
			Transactions.afterCommit(() -> storeAfterCommit(submissions, request));
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

	/**
	 * The store itself looks for a pending task with the same key, but not under the
	 * earlier names of the method.
	 */
	private void enqueueNow(List<Submission> submissions) {
		if (submissions.isEmpty()) {
			return;
		}
		Submission first = submissions.get(0);
		Optional<StoredTask> earlier = first.content.replaces() ? Optional.empty()
				: find(earlierNames(first.task.taskId(), Kind.ONCE)).findFirst();
		if (earlier.isPresent()) {
			first.giveWay(earlier.get().id(), earlier.get().dueAt());
			return;
		}
		try {
			stored(submissions, this.store.enqueue(submissions.stream().map(Submission::content).toList()));
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
		submissions.forEach(this::replaceEarlierNames);
	}

	private void stored(Submission submission, Enqueued enqueued) {
		if (enqueued.outcome() == Outcome.PENDING) {
			submission.giveWay(enqueued.id(), enqueued.dueAt());
			return;
		}
		submission.task.stored(enqueued.id(), enqueued.dueAt());
		expect(submission.content.name(), enqueued.dueAt() - enqueued.now());
		if (enqueued.outcome() == Outcome.REPLACED) {
			count(submission.content.name(), TaskOutcome.REPLACED);
		}
	}

	private void replaceEarlierNames(Submission submission) {
		if (submission.content.replaces() && submission.task.is(Handle.State.STORED)) {
			earlierNames(submission.task.taskId(), Kind.ONCE).stream()
				.filter(this.store::cancel)
				.forEach((earlier) -> count(submission.content.name(), TaskOutcome.REPLACED));
		}
	}

	/**
	 * A checked call that is ready to be stored, now or after the commit.
	 *
	 * @param handler {@code null} if this node has none
	 */
	record Submission(Handle task, NewTask content, Kind kind, @Nullable DurableHandler handler,
			@Nullable Object[] arguments) {

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

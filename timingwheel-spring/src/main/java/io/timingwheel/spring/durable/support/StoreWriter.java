package io.timingwheel.spring.durable.support;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.stream.Stream;

import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.DueTime;
import io.timingwheel.spring.durable.Enqueued;
import io.timingwheel.spring.durable.LeaseOffer;
import io.timingwheel.spring.durable.LeasedTask;
import io.timingwheel.spring.durable.NewTask;
import io.timingwheel.spring.durable.PartlyStoredException;
import io.timingwheel.spring.durable.Rescheduled;
import io.timingwheel.spring.durable.StoredTask.State;
import io.timingwheel.spring.durable.StoredTask;
import io.timingwheel.spring.durable.TaskLimits;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DuplicateTaskException;
import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.support.DelayedTaskRegistry;
import io.timingwheel.spring.task.support.TaskOutcome;
import io.timingwheel.spring.task.support.Transactions;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Stores, cancels and moves tasks for callers, within their transactions: the store takes
 * part in them, or it is asked once they have committed. What is due soon is leased with
 * the same request, and put on the wheel after the commit.
 */
final class StoreWriter {

	private static final Log logger = LogFactory.getLog(StoreWriter.class);

	private final DelayedTaskStore store;

	private final DurableNode node;

	private final DurableHandlerRegistry handlers;

	private final DelayedTaskRegistry tasks;

	StoreWriter(DelayedTaskStore store, DurableNode node, DurableHandlerRegistry handlers, DelayedTaskRegistry tasks) {
		this.store = store;
		this.node = node;
		this.handlers = handlers;
		this.tasks = tasks;
	}

	/**
	 * Stores a task, or tells of the one that it was kept back for. In a transaction that
	 * the store does not take part in, it is stored once that has committed.
	 */
	void put(StoreRequest request) {
		String key = request.key();
		if (isAfterCommit() && request.ifPending() != IfPending.REPLACE && key != null) {
			Optional<StoredTask> pending = findPending(new TaskId(request.task().name(), key));
			if (pending.isPresent()) {
				pending(request, pending.get().id(), pending.get().dueAt());
				return;
			}
		}
		putAll(List.of(request));
	}

	/**
	 * Stores tasks at once, which are to replace those with their keys unless there is
	 * but one.
	 */
	void putAll(List<StoreRequest> requests) {
		Runnable abandon = () -> requests.forEach((request) -> request.task().abandon());
		if (!isAfterCommit()) {
			store(requests);
			onRollback(abandon);
			return;
		}
		Transactions.afterCompletion(() -> storeAfterCommit(requests), abandon);
	}

	/**
	 * The caller has no use for an exception.
	 */
	private void storeAfterCommit(List<StoreRequest> requests) {
		try {
			store(requests);
		}
		catch (RuntimeException ex) {
			List<StoreRequest> failed = requests.stream().filter((request) -> !request.task().isStored()).toList();
			failed.forEach((request) -> request.failed(ex));
			if (failed.isEmpty()) {
				logger.error("Stored after the commit, but what is pending under earlier names may not be replaced",
						ex);
			}
		}
	}

	private boolean isAfterCommit() {
		return Transactions.isActive() && !this.store.joinsTransaction();
	}

	private void store(List<StoreRequest> requests) {
		if (requests.size() == 1 && keepsAlias(requests.get(0))) {
			return;
		}
		long sent = this.node.wheelNanos();
		RuntimeException failure = null;
		List<? extends @Nullable Enqueued> enqueued;
		try {
			enqueued = enqueue(requests.stream()
				.map((request) -> request.newTask(this.node.offer(request.task().name(), request.due())))
				.toList());
		}
		catch (PartlyStoredException ex) {
			failure = ex.failure();
			enqueued = ex.enqueued();
		}
		stored(requests, enqueued, sent);
		try {
			requests.stream()
				.filter((request) -> request.ifPending() == IfPending.REPLACE && request.task().isStored())
				.forEach(this::replaceAliases);
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

	private List<Enqueued> enqueue(List<NewTask> tasks) {
		List<? extends @Nullable Enqueued> known = List.of();
		try {
			List<Enqueued> enqueued = this.store.enqueueAll(tasks);
			known = enqueued;
			return enqueued;
		}
		catch (PartlyStoredException ex) {
			known = ex.enqueued();
			throw ex;
		}
		finally {
			long offered = tasks.stream().filter((task) -> task.lease() != null).count();
			long leased = known.stream().filter((task) -> task != null && task.leased()).count();
			this.node.withdrawOffers((int) (offered - leased));
		}
	}

	/**
	 * By the latest time that the engine has told.
	 */
	private void stored(List<StoreRequest> requests, List<? extends @Nullable Enqueued> enqueued, long sent) {
		OptionalLong now = enqueued.stream().flatMap(Stream::ofNullable).mapToLong(Enqueued::now).max();
		if (now.isEmpty()) {
			return;
		}
		long ahead = this.node.heard(now.getAsLong(), sent);
		for (int i = 0; i < requests.size(); i++) {
			Enqueued one = enqueued.get(i);
			if (one != null) {
				stored(requests.get(i), one, ahead);
			}
		}
	}

	private void stored(StoreRequest request, Enqueued enqueued, long ahead) {
		if (enqueued.outcome() == Enqueued.Outcome.PENDING) {
			pending(request, enqueued.id(), enqueued.dueAt());
			return;
		}
		request.task().stored(enqueued.id(), enqueued.dueAt());
		if (enqueued.outcome() == Enqueued.Outcome.REPLACED) {
			count(request.task().name(), TaskOutcome.REPLACED);
		}
		if (enqueued.leased()) {
			take(request.leased(enqueued), ahead);
		}
	}

	/**
	 * What is pending under an earlier name counts as pending.
	 * @return whether there is such a task, and it stays
	 */
	private boolean keepsAlias(StoreRequest request) {
		if (request.ifPending() == IfPending.REPLACE) {
			return false;
		}
		Optional<StoredTask> pending = aliases(request).stream()
			.flatMap((alias) -> this.store.find(alias).stream())
			.findFirst();
		pending.ifPresent((found) -> pending(request, found.id(), found.dueAt()));
		return pending.isPresent();
	}

	/**
	 * After the new task is stored: a failure in between leaves both rather than none.
	 */
	private void replaceAliases(StoreRequest request) {
		for (TaskId alias : aliases(request)) {
			if (this.store.cancel(alias)) {
				count(alias.name(), TaskOutcome.REPLACED);
			}
		}
	}

	private List<TaskId> aliases(StoreRequest request) {
		DurableHandler handler = this.handlers.find(request.task().name());
		String key = request.key();
		return (handler != null && key != null)
				? handler.aliases().stream().map((alias) -> new TaskId(alias, key)).toList() : List.of();
	}

	/**
	 * Counts what has become of a task, once it is certain.
	 */
	private void count(String name, TaskOutcome outcome) {
		afterCommit(() -> this.tasks.recorder(canonical(name)).count(outcome), () -> {
		});
	}

	/**
	 * Does something once what was done just now is certain.
	 * @param otherwise done if it was rolled back
	 */
	private void afterCommit(Runnable action, Runnable otherwise) {
		if (Transactions.isActive() && this.store.joinsTransaction()) {
			Transactions.afterCompletion(action, otherwise);
		}
		else {
			action.run();
		}
	}

	void onRollback(Runnable action) {
		afterCommit(() -> {
		}, action);
	}

	private static void pending(StoreRequest request, String id, long dueAt) {
		TaskId taskId = request.task().taskId();
		if (request.ifPending() == IfPending.REJECT && taskId != null) {
			throw new DuplicateTaskException(taskId);
		}
		request.task().stored(id, dueAt);
	}

	/**
	 * Puts a leased task on the wheel, as soon as the transaction that stored it has
	 * committed.
	 */
	private void take(LeasedTask task, long ahead) {
		afterCommit(() -> this.node.accept(task, LeaseTerm.NONE, ahead), () -> this.node.withdrawOffers(1));
	}

	boolean cancel(TaskId id) {
		return afterCommitUnlessJoined(() -> cancelNow(id), () -> findPending(id).isPresent());
	}

	private boolean cancelNow(TaskId id) {
		boolean cancelled = false;
		for (TaskId name : names(id)) {
			cancelled |= this.store.cancel(name);
		}
		return counted(cancelled, id.name());
	}

	boolean cancel(String name, String id) {
		return afterCommitUnlessJoined(() -> counted(this.store.cancel(id), name), () -> isPending(id));
	}

	private boolean counted(boolean cancelled, String name) {
		if (cancelled) {
			count(name, TaskOutcome.CANCELLED);
		}
		return cancelled;
	}

	/**
	 * Does something in the current transaction or, if the store takes no part in it,
	 * once it has committed.
	 * @param expected tells what it is going to say
	 */
	private boolean afterCommitUnlessJoined(BooleanSupplier action, BooleanSupplier expected) {
		if (!Transactions.isActive() || this.store.joinsTransaction()) {
			return action.getAsBoolean();
		}
		boolean result = expected.getAsBoolean();
		Transactions.afterCompletion(() -> {
			try {
				boolean done = action.getAsBoolean();
				logger.debug("After the commit: " + done);
			}
			catch (RuntimeException ex) {
				logger.error("A durable task could not be called off or moved after the commit", ex);
			}
		}, () -> {
		});
		return result;
	}

	boolean reschedule(TaskId id, Duration delay) {
		DueTime due = DueTime.after(delay);
		return afterCommitUnlessJoined(
				() -> names(id).stream()
					.anyMatch((name) -> moved(name.name(), due, (offer) -> this.store.reschedule(name, due, offer))),
				() -> findPending(id).isPresent());
	}

	boolean reschedule(String name, String id, Duration delay) {
		DueTime due = DueTime.after(delay);
		return afterCommitUnlessJoined(() -> moved(name, due, (offer) -> this.store.reschedule(id, due, offer)),
				() -> isPending(id));
	}

	private boolean moved(String name, DueTime due, Function<@Nullable LeaseOffer, @Nullable Rescheduled> move) {
		LeaseOffer offer = this.node.offer(name, due);
		Rescheduled moved = null;
		long ahead = 0;
		long sent = this.node.wheelNanos();
		try {
			moved = move.apply(offer);
			if (moved != null) {
				ahead = this.node.heard(moved.now(), sent);
			}
		}
		finally {
			if (offer != null && (moved == null || !moved.leased())) {
				this.node.withdrawOffers(1);
			}
		}
		if (moved != null && moved.leased()) {
			take(moved.task(), ahead);
		}
		return moved != null;
	}

	Optional<StoredTask> findPending(TaskId id) {
		return names(id).stream().flatMap((name) -> this.store.find(name).stream()).findFirst();
	}

	private boolean isPending(String id) {
		return this.store.find(id).filter((task) -> task.state() == State.PENDING).isPresent();
	}

	/**
	 * The same key under all names of its handler.
	 */
	private List<TaskId> names(TaskId id) {
		if (!TaskLimits.isStorable(id)) {
			return List.of();
		}
		DurableHandler handler = this.handlers.find(id.name());
		if (handler == null || handler.aliases().isEmpty()) {
			return List.of(id);
		}
		List<TaskId> names = new ArrayList<>();
		names.add(new TaskId(handler.name(), id.key()));
		handler.aliases().forEach((alias) -> names.add(new TaskId(alias, id.key())));
		return names;
	}

	private String canonical(String name) {
		DurableHandler handler = this.handlers.find(name);
		return (handler != null) ? handler.name() : name;
	}

}

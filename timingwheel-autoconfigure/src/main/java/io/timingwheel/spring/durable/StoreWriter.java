package io.timingwheel.spring.durable;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

import io.timingwheel.spring.durable.StoredTask.State;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DelayedTasks;
import io.timingwheel.spring.task.DuplicateTaskException;
import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.TaskOutcome;
import io.timingwheel.spring.task.Transactions;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;

/**
 * Stores, cancels and moves tasks for callers, within their transactions: the store takes
 * part in them, or it is asked once they have committed. What is due soon is leased with
 * the same request, and put on the wheel after the commit.
 */
final class StoreWriter {

	private static final Log logger = LogFactory.getLog(StoreWriter.class);

	private final DelayedTaskStore store;

	private final DurableNode node;

	private final DurableHandlers handlers;

	private final DelayedTasks tasks;

	StoreWriter(DelayedTaskStore store, DurableNode node, DurableHandlers handlers, DelayedTasks tasks) {
		this.store = store;
		this.node = node;
		this.handlers = handlers;
		this.tasks = tasks;
	}

	/**
	 * Stores a task. In a transaction that the store does not take part in, it is stored
	 * once that has committed.
	 */
	DelayedTask<@Nullable Void> put(DurableTasks owner, String name, @Nullable DurableHandler handler,
			@Nullable String key, IfPending ifPending, DueTime due, String payload, @Nullable Object[] arguments) {
		if (key != null) {
			checkLength("key", key, DelayedTaskStore.MAX_KEY_BYTES);
		}
		DurableTask task = new DurableTask(owner, name, key, DurableIds.next(), due);
		if (!Transactions.isActive() || this.store.joinsTransaction()) {
			store(task, ifPending, due, payload);
			onRollback(task::abandon);
			return task;
		}
		if (ifPending != IfPending.REPLACE && key != null) {
			Optional<StoredTask> pending = findPending(new TaskId(name, key));
			if (pending.isPresent()) {
				pending(task, pending.get().id(), pending.get().dueAt(), ifPending);
				return task;
			}
		}
		Transactions.afterCompletion(() -> {
			try {
				store(task, ifPending, due, payload);
			}
			catch (RuntimeException ex) {
				// The transaction is committed: its caller has no use for this.
				task.abandon();
				if (handler != null) {
					handler.handleError(ex, arguments);
				}
				else {
					logger.error("The durable task \"%s\" could not be stored after the commit".formatted(name), ex);
				}
			}
		}, task::abandon);
		return task;
	}

	private void store(DurableTask task, IfPending ifPending, DueTime due, String payload) {
		TaskId taskId = task.taskId();
		DurableHandler handler = this.handlers.find(task.name());
		if (ifPending != IfPending.REPLACE && keepsAlias(handler, taskId, ifPending, task)) {
			return;
		}
		LeaseOffer offer = this.node.offer(task.name());
		Enqueued enqueued = null;
		try {
			enqueued = this.store.enqueue(new NewTask(task.id(), task.name(), (taskId != null) ? taskId.key() : null,
					payload, due, ifPending, offer));
		}
		finally {
			if (offer != null && (enqueued == null || !enqueued.leased())) {
				this.node.withdrawOffer();
			}
		}
		if (enqueued.outcome() == Enqueued.Outcome.PENDING) {
			pending(task, enqueued.id(), enqueued.dueAt(), ifPending);
			return;
		}
		task.stored(enqueued.id(), enqueued.dueAt());
		if (enqueued.outcome() == Enqueued.Outcome.REPLACED) {
			count(task.name(), TaskOutcome.REPLACED);
		}
		if (enqueued.leased()) {
			take(new LeasedTask(enqueued.id(), enqueued.fence(), task.name(), (taskId != null) ? taskId.key() : null,
					payload, enqueued.dueAt(), false, 1, 0, 0), enqueued.now());
		}
		if (ifPending == IfPending.REPLACE) {
			replaceAliases(handler, taskId);
		}
	}

	/**
	 * What is pending under an earlier name counts as pending.
	 * @return whether there is such a task
	 */
	private boolean keepsAlias(@Nullable DurableHandler handler, @Nullable TaskId taskId, IfPending ifPending,
			DurableTask task) {
		Optional<StoredTask> pending = aliases(handler, taskId).stream()
			.flatMap((alias) -> this.store.find(alias).stream())
			.findFirst();
		pending.ifPresent((found) -> pending(task, found.id(), found.dueAt(), ifPending));
		return pending.isPresent();
	}

	/**
	 * After the new task is stored: a failure in between leaves both rather than none.
	 */
	private void replaceAliases(@Nullable DurableHandler handler, @Nullable TaskId taskId) {
		for (TaskId alias : aliases(handler, taskId)) {
			if (this.store.cancel(alias)) {
				count(alias.name(), TaskOutcome.REPLACED);
			}
		}
	}

	private static List<TaskId> aliases(@Nullable DurableHandler handler, @Nullable TaskId taskId) {
		return (handler != null && taskId != null)
				? handler.aliases().stream().map((alias) -> new TaskId(alias, taskId.key())).toList() : List.of();
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

	private static void pending(DurableTask task, String id, long dueAt, IfPending ifPending) {
		if (ifPending == IfPending.REJECT && task.taskId() != null) {
			throw new DuplicateTaskException(task.taskId());
		}
		task.stored(id, dueAt);
	}

	/**
	 * Puts a leased task on the wheel, as soon as the transaction that stored it has
	 * committed.
	 */
	private void take(LeasedTask task, long now) {
		long received = this.node.wheelNanos();
		afterCommit(() -> this.node.accept(task, now, received, LeaseTerm.NONE), this.node::withdrawOffer);
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
		return afterCommitUnlessJoined(
				() -> names(id).stream()
					.anyMatch((name) -> moved(name.name(),
							(offer) -> this.store.reschedule(name, DueTime.after(delay), offer))),
				() -> findPending(id).isPresent());
	}

	boolean reschedule(String name, String id, Duration delay) {
		return afterCommitUnlessJoined(
				() -> moved(name, (offer) -> this.store.reschedule(id, DueTime.after(delay), offer)),
				() -> isPending(id));
	}

	private boolean moved(String name, Function<@Nullable LeaseOffer, @Nullable Moved> move) {
		LeaseOffer offer = this.node.offer(name);
		Moved moved = null;
		try {
			moved = move.apply(offer);
		}
		finally {
			if (offer != null && (moved == null || !moved.leased())) {
				this.node.withdrawOffer();
			}
		}
		if (moved != null && moved.leased()) {
			take(moved.task(), moved.now());
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
		if (!isStorable(id)) {
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

	/**
	 * Whether there can be such a task.
	 */
	private static boolean isStorable(TaskId id) {
		return bytes(id.name()) <= DelayedTaskStore.MAX_NAME_BYTES && bytes(id.key()) <= DelayedTaskStore.MAX_KEY_BYTES
				&& (id.name() + id.key()).indexOf('\0') < 0;
	}

	private static int bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8).length;
	}

	static void checkLength(String what, String text, int maxBytes) {
		int bytes = bytes(text);
		Assert.isTrue(bytes <= maxBytes, () -> "The %s of a durable task has %d bytes of UTF-8, and may have %d: \"%s\""
			.formatted(what, bytes, maxBytes, text));
		Assert.isTrue(text.indexOf('\0') < 0, () -> "The %s of a durable task holds the character NUL".formatted(what));
	}

}

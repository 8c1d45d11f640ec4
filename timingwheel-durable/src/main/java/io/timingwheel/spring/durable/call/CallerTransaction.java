package io.timingwheel.spring.durable.call;

import java.util.List;
import java.util.concurrent.TimeUnit;

import io.timingwheel.spring.durable.store.Target.Kind;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.internal.DeferredCall;
import io.timingwheel.spring.task.internal.DeferredCall.Effect;
import io.timingwheel.spring.task.internal.Transactions;
import org.jspecify.annotations.Nullable;

/**
 * The transaction of the calling thread, seen from the store. Either the store takes part
 * in the transaction, or calls to the store wait for the commit, in the order that
 * {@link Transactions} describes. Thread-safe.
 */
final class CallerTransaction {

	private static final Runnable NOTHING = () -> {
	};

	private final CallParts parts;

	CallerTransaction(CallParts parts) {
		this.parts = parts;
	}

	/**
	 * Whether calls to the store have to wait for the commit.
	 */
	boolean isDeferred() {
		return Transactions.isActive() && !this.parts.store().joinsTransaction();
	}

	/**
	 * Identifies the calls about a task among those that wait for the commit. The calls
	 * about the task that runs once and those about the schedule do not affect each
	 * other.
	 */
	Key key(TaskId id, Kind kind) {
		return new Key(this, new TaskId(this.parts.handlers().canonicalName(id.name()), id.key()), kind);
	}

	/**
	 * What the latest call about a task will do at the commit.
	 * @param key the task, {@code null} for one without a key
	 * @return the effect, {@link Effect#NONE} if no call waits for the commit
	 */
	Effect earlier(@Nullable Key key) {
		DeferredCall latest = (key != null) ? Transactions.latest(key) : null;
		return (latest != null) ? latest.effect() : Effect.NONE;
	}

	/**
	 * Runs an action once the last change of the calling thread in the store is certain.
	 * If the store takes part in the transaction, this is after the commit, otherwise at
	 * once.
	 * @param otherwise runs after a rollback
	 */
	void onceCertain(Runnable action, Runnable otherwise) {
		if (Transactions.isActive() && this.parts.store().joinsTransaction()) {
			Transactions.afterCompletion(action, otherwise);
		}
		else {
			action.run();
		}
	}

	void onceCertain(Runnable action) {
		onceCertain(action, NOTHING);
	}

	/**
	 * Runs an action if a rollback undoes the last change of the calling thread in the
	 * store.
	 */
	void onRollback(Runnable action) {
		onceCertain(NOTHING, action);
	}

	/**
	 * Tells the node of tasks that were stored or moved, once this is certain.
	 * @param now the time by the store's clock when they were stored or moved
	 */
	void expect(List<Due> tasks, long now) {
		long heard = this.parts.nanoTime().getAsLong();
		onceCertain(() -> {
			long since = TimeUnit.NANOSECONDS.toMillis(this.parts.nanoTime().getAsLong() - heard);
			tasks.forEach((task) -> this.parts.node().expect(task.name(), task.dueAt(), now + since));
		});
	}

	/**
	 * When a task is due.
	 */
	record Due(String name, long dueAt) {

	}

	/**
	 * Identifies calls that wait for the commit.
	 *
	 * @param transaction the store of the calls
	 * @param id the name of the method, and the key
	 * @param kind what the calls are about, a task that runs once or a schedule
	 */
	record Key(CallerTransaction transaction, TaskId id, Kind kind) {

	}

}

package io.timingwheel.spring.durable.support;

import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

import io.timingwheel.spring.durable.DelayedTaskStore.Kind;
import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.internal.DeferredCall.Effect;
import io.timingwheel.spring.task.internal.DeferredCall;
import io.timingwheel.spring.task.internal.Transactions;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * The transaction of the calling thread, seen from the store. Either the store takes part
 * in the transaction, or calls to the store are deferred until the transaction has
 * committed. Thread-safe.
 */
final class CallerTransaction {

	private static final Log logger = LogFactory.getLog(CallerTransaction.class);

	private static final Runnable NOTHING = () -> {
	};

	private final DelayedTaskStore store;

	CallerTransaction(DelayedTaskStore store) {
		this.store = store;
	}

	/**
	 * Tells whether calls to the store have to wait for the commit.
	 */
	boolean isDeferred() {
		return Transactions.isActive() && !this.store.joinsTransaction();
	}

	/**
	 * Calls the store after the commit.
	 * @param action the call; must not throw
	 * @param otherwise runs after a rollback
	 */
	void defer(Runnable action, Runnable otherwise) {
		Transactions.afterCompletion(action, otherwise);
	}

	/**
	 * Changes a pending task after the commit.
	 * @param key the key of the task in the transaction; {@code null} for a task without
	 * a key
	 * @param effect what the change does to the task
	 * @param change changes the task and tells whether it was pending
	 */
	void defer(@Nullable KeyInTransaction key, Effect effect, BooleanSupplier change) {
		Transactions.defer(new DeferredChange(key, effect, change));
	}

	/**
	 * Keeps a task that is to be stored after the commit from being stored if a later
	 * call of the transaction cancels or replaces it.
	 * @param key the key of the task in the transaction
	 * @param effect what storing the task does to the pending task with the key
	 * @param task the task
	 * @param withdrawn called with the effect of the later call
	 */
	void deferOverride(KeyInTransaction key, Effect effect, DurableTaskHandle task, Consumer<Effect> withdrawn) {
		Transactions.defer(new DeferredCall(key, effect) {

			@Override
			protected void commit() {
			}

			@Override
			protected void override(Effect later) {
				if (task.withdraw()) {
					withdrawn.accept(later);
				}
			}

		});
	}

	/**
	 * What the latest call with a key will do at the commit.
	 * @return the effect, {@link Effect#NONE} if no call waits for the commit
	 */
	Effect effectOfEarlierCalls(KeyInTransaction key) {
		DeferredCall latest = Transactions.latest(key);
		return (latest != null) ? latest.effect() : Effect.NONE;
	}

	/**
	 * Identifies the calls with a key among those that wait for the commit. The calls
	 * about the task that runs once and those about the schedule do not affect each
	 * other.
	 * @param id the name of the handler, and the key
	 * @param kind which of the two the calls are about
	 */
	KeyInTransaction key(TaskId id, Kind kind) {
		return new KeyInTransaction(this, id, kind);
	}

	/**
	 * Runs an action once the last change of the calling thread in the store is certain.
	 * If the store takes part in the transaction, this is after the commit, otherwise at
	 * once.
	 * @param action what to do
	 * @param otherwise runs after a rollback
	 */
	void onceCertain(Runnable action, Runnable otherwise) {
		if (Transactions.isActive() && this.store.joinsTransaction()) {
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
	 * Identifies calls that wait for the commit.
	 *
	 * @param transaction the store of the calls
	 * @param id the name of the handler, and the key
	 * @param kind what the calls are about, a task that runs once or a schedule
	 */
	record KeyInTransaction(CallerTransaction transaction, TaskId id, Kind kind) {

	}

	/**
	 * A change of a pending task after the commit.
	 */
	private static final class DeferredChange extends DeferredCall {

		private final BooleanSupplier change;

		DeferredChange(@Nullable KeyInTransaction key, Effect effect, BooleanSupplier change) {
			super(key, effect);
			this.change = change;
		}

		@Override
		protected void commit() {
			try {
				boolean done = this.change.getAsBoolean();
				logger.debug(done ? "Changed a durable task after the commit"
						: "Found no pending durable task to change after the commit");
			}
			catch (RuntimeException ex) {
				logger.error("A durable task could not be cancelled or moved after the commit", ex);
			}
		}

	}

}

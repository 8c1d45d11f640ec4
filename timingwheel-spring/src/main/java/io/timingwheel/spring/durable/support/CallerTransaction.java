package io.timingwheel.spring.durable.support;

import java.util.function.BooleanSupplier;

import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.task.support.Transactions;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

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
	 * Changes a pending task, now or after the commit.
	 * @param change changes the task and tells whether it was pending
	 * @param expected tells, before the commit, whether the task is pending
	 * @return what {@code change} or {@code expected} tells
	 */
	boolean change(BooleanSupplier change, BooleanSupplier expected) {
		if (!isDeferred()) {
			return change.getAsBoolean();
		}
		boolean result = expected.getAsBoolean();
		defer(() -> {
			try {
				boolean done = change.getAsBoolean();
				logger.debug(done ? "Changed a durable task after the commit"
						: "Found no pending durable task to change after the commit");
			}
			catch (RuntimeException ex) {
				logger.error("A durable task could not be cancelled or moved after the commit", ex);
			}
		}, NOTHING);
		return result;
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

}

package io.timingwheel.spring.task.support;

import java.util.HashSet;
import java.util.Set;

import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;

/**
 * The transaction of the current thread, if there are transactions at all.
 */
public final class Transactions {

	private static final boolean PRESENT = ClassUtils.isPresent(
			"org.springframework.transaction.support.TransactionSynchronizationManager",
			Transactions.class.getClassLoader());

	private Transactions() {
	}

	/**
	 * Whether the thread is in a transaction.
	 */
	public static boolean isActive() {
		return PRESENT && Manager.isActive();
	}

	/**
	 * Waits for the end of the thread's transaction.
	 * @param afterCommit called once it has committed; must not throw
	 * @param otherwise called if it has not, or if what the thread has done so far was
	 * rolled back to a savepoint
	 */
	public static void afterCompletion(Runnable afterCommit, Runnable otherwise) {
		Manager.afterCompletion(afterCommit, otherwise);
	}

	/**
	 * Loaded only where there are transactions.
	 */
	private static final class Manager {

		static boolean isActive() {
			return TransactionSynchronizationManager.isSynchronizationActive()
					&& TransactionSynchronizationManager.isActualTransactionActive();
		}

		static void afterCompletion(Runnable afterCommit, Runnable otherwise) {
			TransactionSynchronizationManager.registerSynchronization(new Completion(afterCommit, otherwise));
		}

	}

	/**
	 * Acts when the transaction is completed rather than in {@code afterCommit()}, which
	 * is left out when that of another synchronization throws, and for those that are
	 * registered in one.
	 */
	private static final class Completion implements TransactionSynchronization {

		private final Runnable afterCommit;

		private final Runnable otherwise;

		/** Those set after this was registered. */
		private final Set<Object> savepoints = new HashSet<>();

		private boolean rolledBack;

		Completion(Runnable afterCommit, Runnable otherwise) {
			this.afterCommit = afterCommit;
			this.otherwise = otherwise;
		}

		@Override
		public void savepoint(Object savepoint) {
			this.savepoints.add(savepoint);
		}

		@Override
		public void savepointRollback(Object savepoint) {
			this.rolledBack |= !this.savepoints.contains(savepoint);
		}

		@Override
		public void afterCompletion(int status) {
			if (status == STATUS_COMMITTED && !this.rolledBack) {
				this.afterCommit.run();
			}
			else {
				this.otherwise.run();
			}
		}

	}

}

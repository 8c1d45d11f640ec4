package io.timingwheel.spring.task.support;

import java.util.HashSet;
import java.util.Set;

import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;

/**
 * The transaction of the current thread. Without {@code spring-tx} on the class path
 * there is none.
 *
 * @since 0.1
 */
public final class Transactions {

	private static final boolean PRESENT = ClassUtils.isPresent(
			"org.springframework.transaction.support.TransactionSynchronizationManager",
			Transactions.class.getClassLoader());

	private Transactions() {
	}

	/**
	 * Whether the thread is in a transaction.
	 * @return whether {@link #afterCompletion} may be called
	 */
	public static boolean isActive() {
		return PRESENT && Manager.isActive();
	}

	/**
	 * Registers what to do at the end of the thread's transaction.
	 * @param afterCommit runs once the transaction has committed; must not throw
	 * @param otherwise runs if the transaction has not committed, or was rolled back to a
	 * savepoint from before this call; must not throw
	 */
	public static void afterCompletion(Runnable afterCommit, Runnable otherwise) {
		Manager.afterCompletion(afterCommit, otherwise);
	}

	/**
	 * This class is loaded only if {@code spring-tx} is on the class path.
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
	 * Acts in {@code afterCompletion()}. Spring skips {@code afterCommit()} if that of
	 * another synchronization throws, and if the synchronization was registered during
	 * {@code afterCommit()}.
	 */
	private static final class Completion implements TransactionSynchronization {

		private final Runnable afterCommit;

		private final Runnable otherwise;

		/** The savepoints that were set after this was registered. */
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

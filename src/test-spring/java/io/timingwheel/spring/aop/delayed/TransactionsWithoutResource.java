package io.timingwheel.spring.aop.delayed;

import org.jspecify.annotations.Nullable;

import org.springframework.transaction.SavepointManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.SmartTransactionObject;

/**
 * Manages transactions that change nothing and therefore take no time. They may be nested
 * and have savepoints.
 */
final class TransactionsWithoutResource extends AbstractPlatformTransactionManager {

	private final transient ThreadLocal<@Nullable State> current = new ThreadLocal<>();

	TransactionsWithoutResource() {
		setNestedTransactionAllowed(true);
	}

	@Override
	protected Object doGetTransaction() {
		return new Transaction(this.current.get());
	}

	@Override
	protected boolean isExistingTransaction(Object transaction) {
		return ((Transaction) transaction).state != null;
	}

	@Override
	protected void doBegin(Object transaction, TransactionDefinition definition) {
		State state = new State();
		((Transaction) transaction).state = state;
		this.current.set(state);
	}

	@Override
	protected Object doSuspend(Object transaction) {
		State state = this.current.get();
		((Transaction) transaction).state = null;
		this.current.remove();
		return state;
	}

	@Override
	protected void doResume(@Nullable Object transaction, Object suspended) {
		this.current.set((State) suspended);
	}

	@Override
	protected void doCommit(DefaultTransactionStatus status) {
	}

	@Override
	protected void doRollback(DefaultTransactionStatus status) {
	}

	@Override
	protected void doSetRollbackOnly(DefaultTransactionStatus status) {
		((Transaction) status.getTransaction()).state.rollbackOnly = true;
	}

	@Override
	protected void doCleanupAfterCompletion(Object transaction) {
		this.current.remove();
	}

	private static final class State {

		private boolean rollbackOnly;

	}

	/**
	 * A participant of a transaction.
	 */
	private static final class Transaction implements SmartTransactionObject, SavepointManager {

		private @Nullable State state;

		Transaction(@Nullable State state) {
			this.state = state;
		}

		@Override
		public boolean isRollbackOnly() {
			return this.state != null && this.state.rollbackOnly;
		}

		@Override
		public Object createSavepoint() {
			return new Object();
		}

		@Override
		public void rollbackToSavepoint(Object savepoint) {
		}

		@Override
		public void releaseSavepoint(Object savepoint) {
		}

	}

}

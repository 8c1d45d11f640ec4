package io.timingwheel.spring.durable.node;

import java.util.concurrent.atomic.AtomicBoolean;

import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Reply;
import io.timingwheel.spring.task.internal.Transactions;
import io.timingwheel.spring.task.internal.UserErrors;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.support.DefaultTransactionDefinition;

/**
 * Runs bodies in transactions whose last statement settles the task, so that both commit
 * or none. If the lease is lost, the store refuses, and the transaction rolls back.
 * Thread-safe.
 *
 * @since 0.1
 */
public final class TransactionalBodies {

	private static final Log logger = LogFactory.getLog(TransactionalBodies.class);

	private static final TransactionDefinition NEW = new DefaultTransactionDefinition(
			TransactionDefinition.PROPAGATION_REQUIRES_NEW);

	private final PlatformTransactionManager manager;

	private final DelayedTaskStore store;

	public TransactionalBodies(PlatformTransactionManager manager, DelayedTaskStore store) {
		this.manager = manager;
		this.store = store;
	}

	/**
	 * Begins a transaction to find out.
	 * @throws org.springframework.transaction.TransactionException if there is none,
	 * since the database does not answer
	 */
	public boolean reachTheStore() {
		TransactionStatus status = this.manager.getTransaction(NEW);
		try {
			return this.store.joinsTransaction();
		}
		finally {
			this.manager.rollback(status);
		}
	}

	/**
	 * Runs a body and settles its task, or rolls back. {@code Run.reply} tells what the
	 * store said.
	 */
	@Nullable Object run(Run run) throws Throwable {
		TransactionStatus status = this.manager.getTransaction(NEW);
		AtomicBoolean committed = new AtomicBoolean();
		Object result;
		try {
			Transactions.afterCompletion(() -> committed.set(true), () -> {
			});
			try {
				result = run.invoke();
			}
			finally {
				run.endBody();
			}
			settle(run, status);
		}
		catch (Throwable ex) {
			rollback(status, ex);
			throw ex;
		}
		try {
			this.manager.commit(status);
		}
		catch (RuntimeException | Error ex) {
			if (!committed.get()) {
				throw ex;
			}
			UserErrors.log(logger::error, "The transaction of the durable task " + run
					+ " has committed, and a callback then threw an exception", ex);
		}
		run.reply = Reply.DONE;
		return result;
	}

	private void settle(Run run, TransactionStatus status) {
		if (status.isRollbackOnly()) {
			throw new UnexpectedRollbackException(
					"The body has marked the transaction of the durable task " + run + " as rollback-only");
		}
		run.setSettlement(run.end(null));
		if (!this.store.settleInTransaction(run.settlement())) {
			run.reply = Reply.REFUSED;
			throw new UnexpectedRollbackException("The lease of the durable task " + run
					+ " has ended before its transaction: the transaction is rolled back");
		}
	}

	private void rollback(TransactionStatus status, Throwable cause) {
		try {
			if (!status.isCompleted()) {
				this.manager.rollback(status);
			}
		}
		catch (RuntimeException | Error ex) {
			if (ex != cause) {
				cause.addSuppressed(ex);
			}
		}
	}

}

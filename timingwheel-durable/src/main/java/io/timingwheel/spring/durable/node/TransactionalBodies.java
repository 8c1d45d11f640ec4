package io.timingwheel.spring.durable.node;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;

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
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Runs bodies in transactions whose last statement settles the task, so that both commit
 * or none. If the lease is lost, the store refuses, and the transaction rolls back.
 * Thread-safe.
 *
 * @since 0.1
 */
public final class TransactionalBodies {

	private static final Log logger = LogFactory.getLog(TransactionalBodies.class);

	private final TransactionTemplate transactions;

	private final DelayedTaskStore store;

	public TransactionalBodies(PlatformTransactionManager manager, DelayedTaskStore store) {
		this.transactions = new TransactionTemplate(manager,
				new DefaultTransactionDefinition(TransactionDefinition.PROPAGATION_REQUIRES_NEW));
		this.store = store;
	}

	/**
	 * Begins a transaction to find out.
	 * @throws org.springframework.transaction.TransactionException if there is none,
	 * since the database does not answer
	 */
	public boolean reachTheStore() {
		return Boolean.TRUE.equals(this.transactions.execute((status) -> {
			status.setRollbackOnly();
			return this.store.joinsTransaction();
		}));
	}

	/**
	 * Runs a body and settles its task, or rolls back. {@code Run.reply} tells what the
	 * store said.
	 */
	@Nullable Object run(Run run) throws Throwable {
		AtomicBoolean committed = new AtomicBoolean();
		AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
		AtomicReference<@Nullable Object> result = new AtomicReference<>();
		try {
			this.transactions.executeWithoutResult((status) -> {
				Transactions.afterCompletion(() -> committed.set(true), () -> {
				});
				try {
					result.set(runAndSettle(run, status));
				}
				catch (Throwable ex) {
					failure.set(ex);
					status.setRollbackOnly();
				}
			});
		}
		catch (RuntimeException | Error ex) {
			if (!committed.get()) {
				failure.compareAndSet(null, ex);
			}
			else {
				UserErrors.log(logger::error, "The transaction of the durable task " + run
						+ " has committed, and a callback then threw an exception", ex);
			}
		}
		Throwable error = failure.get();
		if (error != null) {
			throw error;
		}
		run.reply = Reply.DONE;
		return result.get();
	}

	private @Nullable Object runAndSettle(Run run, TransactionStatus status) throws Throwable {
		Object result;
		try {
			result = run.invoke();
		}
		finally {
			run.endBody();
		}
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
		return result;
	}

}

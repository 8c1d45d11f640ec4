package io.timingwheel.spring.durable.node;

import java.util.List;

import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.store.UnusableTaskStoreException;
import io.timingwheel.spring.task.internal.Transactions;
import io.timingwheel.spring.task.internal.UserErrors;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionException;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Runs bodies in transactions whose last statement settles the task, so that both commit
 * or none. If the lease is lost, the store refuses, and the transaction rolls back.
 * Thread-safe. Loaded only if there is such a body: {@code spring-tx} is optional.
 */
public final class TransactionalBodies {

	private static final Log logger = LogFactory.getLog(TransactionalBodies.class);

	private static final TransactionDefinition REQUIRES_NEW = new DefaultTransactionDefinition(
			TransactionDefinition.PROPAGATION_REQUIRES_NEW);

	private final PlatformTransactionManager manager;

	private final DelayedTaskStore store;

	private TransactionalBodies(PlatformTransactionManager manager, DelayedTaskStore store) {
		this.manager = manager;
		this.store = store;
	}

	/**
	 * Finds the manager whose transactions the store takes part in. Begins a transaction
	 * with each one, the primary one first: a {@code JpaTransactionManager} also offers
	 * its JDBC connection.
	 * @throws UnusableTaskStoreException unless there is exactly one that reaches the
	 * store
	 */
	public static TransactionalBodies find(DelayedTaskStore store, ConfigurableListableBeanFactory beanFactory) {
		if (!store.canJoinTransactions()) {
			throw new UnusableTaskStoreException(
					"@Delayed is transactional, but the store of its tasks takes part in no transaction",
					"set timingwheel.store.type to jdbc, or remove transactional = true");
		}
		ObjectProvider<PlatformTransactionManager> managers = beanFactory
			.getBeanProvider(PlatformTransactionManager.class);
		PlatformTransactionManager unique = managers.getIfUnique();
		List<PlatformTransactionManager> found = (unique != null && reaches(unique, store)) ? List.of(unique)
				: managers.stream().filter((manager) -> reaches(manager, store)).toList();
		if (found.size() != 1) {
			throw new UnusableTaskStoreException(
					"@Delayed is transactional, but the store takes part in the transactions of %d transaction managers"
						.formatted(found.size()),
					"declare a JdbcTransactionManager or a JpaTransactionManager for the DataSource of the store, and"
							+ " mark it as @Primary if there are several, or remove transactional = true");
		}
		return new TransactionalBodies(found.get(0), store);
	}

	private static boolean reaches(PlatformTransactionManager manager, DelayedTaskStore store) {
		try {
			return Boolean.TRUE.equals(new TransactionTemplate(manager, REQUIRES_NEW).execute((status) -> {
				status.setRollbackOnly();
				return store.joinsTransaction();
			}));
		}
		catch (TransactionException ex) {
			throw new UnusableTaskStoreException("@Delayed is transactional, and no transaction begins with " + manager,
					"check that its server runs, or mark the manager for the DataSource of the store as @Primary", ex);
		}
	}

	/**
	 * Runs a body and settles its task, or rolls back. {@code Run.reply} tells what the
	 * store said.
	 */
	@Nullable Object run(Run run) throws Throwable {
		TransactionStatus status = this.manager.getTransaction(REQUIRES_NEW);
		try {
			Transactions.afterCommit(() -> run.reply = Reply.DONE);
			Object result = run.invoke();
			if (status.isRollbackOnly()) {
				throw new UnexpectedRollbackException(
						"The body has marked the transaction of the durable task " + run + " as rollback-only");
			}
			run.settlement = run.end(null);
			if (!this.store.settleInTransaction(run.settlement())) {
				run.reply = Reply.REFUSED;
				throw new UnexpectedRollbackException("The lease of the durable task " + run
						+ " has ended before its transaction: the transaction is rolled back");
			}
			this.manager.commit(status);
			return result;
		}
		catch (Throwable ex) {
			if (run.reply != Reply.DONE) {
				rollBack(status, ex);
				throw ex;
			}
			UserErrors.log(logger::error, "The transaction of the durable task " + run
					+ " has committed, and a callback then threw an exception", ex);
			return null;
		}
	}

	/** A commit that has failed has rolled back itself. */
	private void rollBack(TransactionStatus status, Throwable error) {
		try {
			if (!status.isCompleted()) {
				this.manager.rollback(status);
			}
		}
		catch (RuntimeException | Error ex) {
			error.addSuppressed(ex);
		}
	}

}

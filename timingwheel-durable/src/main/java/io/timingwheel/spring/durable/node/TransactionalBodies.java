package io.timingwheel.spring.durable.node;

import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;

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
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.support.DefaultTransactionDefinition;

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
			throw refusal("but the store of its tasks takes part in no transaction",
					"set timingwheel.store.type to jdbc");
		}
		ObjectProvider<PlatformTransactionManager> managers = beanFactory
			.getBeanProvider(PlatformTransactionManager.class);
		List<TransactionalBodies> found = reaching(store, Stream.ofNullable(managers.getIfUnique()));
		if (found.isEmpty()) {
			found = reaching(store, managers.stream());
		}
		return switch (found.size()) {
			case 1 -> found.get(0);
			case 0 -> throw refusal(
					"but no PlatformTransactionManager has transactions on the DataSource of the stored tasks",
					"declare a JdbcTransactionManager or a JpaTransactionManager for this DataSource");
			default -> throw refusal(
					"and several PlatformTransactionManagers have transactions on the DataSource of the stored tasks",
					"mark one of them as @Primary");
		};
	}

	private static List<TransactionalBodies> reaching(DelayedTaskStore store,
			Stream<PlatformTransactionManager> managers) {
		return managers.map((manager) -> new TransactionalBodies(manager, store))
			.filter(TransactionalBodies::reachesTheStore)
			.toList();
	}

	private static UnusableTaskStoreException refusal(String problem, String remedy) {
		return new UnusableTaskStoreException("@Delayed is transactional, " + problem,
				remedy + ", or remove transactional = true");
	}

	private boolean reachesTheStore() {
		TransactionStatus status = this.manager.getTransaction(REQUIRES_NEW);
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
		TransactionStatus status = this.manager.getTransaction(REQUIRES_NEW);
		AtomicBoolean committed = new AtomicBoolean();
		Object result;
		try {
			Transactions.afterCompletion(() -> committed.set(true), () -> {
			});
			result = runAndSettle(run, status);
		}
		catch (Throwable ex) {
			rollBack(status, ex);
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

	private void rollBack(TransactionStatus status, Throwable error) {
		try {
			this.manager.rollback(status);
		}
		catch (RuntimeException | Error ex) {
			error.addSuppressed(ex);
		}
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
		run.settlement = run.end(null);
		if (!this.store.settleInTransaction(run.settlement())) {
			run.reply = Reply.REFUSED;
			throw new UnexpectedRollbackException("The lease of the durable task " + run
					+ " has ended before its transaction: the transaction is rolled back");
		}
		return result;
	}

}

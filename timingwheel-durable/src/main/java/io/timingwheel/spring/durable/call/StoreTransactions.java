package io.timingwheel.spring.durable.call;

import java.lang.reflect.Method;
import java.util.List;
import java.util.stream.Stream;

import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import io.timingwheel.spring.durable.node.TransactionalBodies;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.transaction.PlatformTransactionManager;

/**
 * Finds the transaction manager for transactional tasks. Once, since the search begins
 * transactions, and a later caller may hold the last connection of the pool. Loaded only
 * if there is such a task: {@code spring-tx} is optional. Thread-safe.
 */
final class StoreTransactions {

	private static final String REMEDY = "or remove transactional = true";

	private final DelayedTaskStore store;

	private final ConfigurableListableBeanFactory beanFactory;

	private @Nullable TransactionalBodies found;

	StoreTransactions(DelayedTaskStore store, ConfigurableListableBeanFactory beanFactory) {
		this.store = store;
		this.beanFactory = beanFactory;
	}

	synchronized TransactionalBodies find(Method method) {
		TransactionalBodies found = this.found;
		if (found == null) {
			if (!this.store.canJoinTransactions()) {
				throw new InvalidAnnotatedMethodException(method,
						"@Delayed is transactional, but the store of its tasks takes part in no transaction",
						"set timingwheel.store.type to jdbc, " + REMEDY);
			}
			found = search(method);
			this.found = found;
		}
		return found;
	}

	/**
	 * Begins a transaction with each manager, the primary one first: a {@code
	 * JpaTransactionManager} also offers its JDBC connection.
	 */
	private TransactionalBodies search(Method method) {
		ObjectProvider<PlatformTransactionManager> managers = this.beanFactory
			.getBeanProvider(PlatformTransactionManager.class);
		List<TransactionalBodies> found = reachTheStore(Stream.ofNullable(managers.getIfUnique()));
		if (found.isEmpty()) {
			found = reachTheStore(managers.stream());
		}
		if (found.isEmpty()) {
			throw new InvalidAnnotatedMethodException(method,
					"@Delayed is transactional, but no PlatformTransactionManager has transactions on the DataSource"
							+ " of the stored tasks",
					"declare a JdbcTransactionManager or a JpaTransactionManager for this DataSource, " + REMEDY);
		}
		if (found.size() > 1) {
			throw new InvalidAnnotatedMethodException(method,
					"@Delayed is transactional, and several PlatformTransactionManagers have transactions on the"
							+ " DataSource of the stored tasks",
					"mark one of them as @Primary");
		}
		return found.get(0);
	}

	private List<TransactionalBodies> reachTheStore(Stream<PlatformTransactionManager> managers) {
		return managers.map((manager) -> new TransactionalBodies(manager, this.store))
			.filter(TransactionalBodies::reachTheStore)
			.toList();
	}

}

package io.timingwheel.spring.durable.call;

import java.util.List;
import java.util.stream.Stream;

import io.timingwheel.spring.durable.node.TransactionalBodies;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.UnusableTaskStoreException;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.transaction.PlatformTransactionManager;

/**
 * Finds the transaction manager for transactional tasks. Loaded only if there is such a
 * task: {@code spring-tx} is optional.
 */
final class StoreTransactions {

	private StoreTransactions() {
	}

	/**
	 * Begins a transaction with each manager, the primary one first: a {@code
	 * JpaTransactionManager} also offers its JDBC connection.
	 * @throws UnusableTaskStoreException unless there is exactly one that reaches the
	 * store
	 */
	static TransactionalBodies find(DelayedTaskStore store, ConfigurableListableBeanFactory beanFactory) {
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
			.filter(TransactionalBodies::reachTheStore)
			.toList();
	}

	private static UnusableTaskStoreException refusal(String problem, String remedy) {
		return new UnusableTaskStoreException("@Delayed is transactional, " + problem,
				remedy + ", or remove transactional = true");
	}

}

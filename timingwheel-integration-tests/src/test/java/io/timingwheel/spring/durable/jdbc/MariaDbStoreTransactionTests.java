package io.timingwheel.spring.durable.jdbc;

import java.util.Set;

import io.timingwheel.spring.durable.store.DelayedTaskStore.Reply;

class MariaDbStoreTransactionTests extends JdbcStoreTransactionContractTests {

	MariaDbStoreTransactionTests() {
		super(TestDatabase.MARIADB);
	}

	/**
	 * InnoDB may lock the gap between two keys, so the retry may have to wait.
	 */
	@Override
	protected Set<Reply> repliesBesideALockedKey() {
		return Set.of(Reply.DONE, Reply.BUSY);
	}

	@Override
	boolean locksNeighbouringKeys() {
		return true;
	}

}

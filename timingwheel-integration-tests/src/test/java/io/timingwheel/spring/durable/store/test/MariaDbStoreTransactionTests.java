package io.timingwheel.spring.durable.store.test;

import io.timingwheel.spring.durable.jdbc.TestDatabase;
import org.junit.jupiter.api.Tag;

@Tag("servers")
class MariaDbStoreTransactionTests extends JdbcStoreTransactionContractTests {

	MariaDbStoreTransactionTests() {
		super(TestDatabase.MARIADB);
	}

	/** InnoDB may lock the gap between two keys. */
	@Override
	boolean locksNeighbouringKeys() {
		return true;
	}

}

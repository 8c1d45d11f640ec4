package io.timingwheel.spring.durable.jdbc;

import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.test.StoreContractTests;
import org.junit.jupiter.api.Tag;

/** The contract of a store, in each database. */
abstract class JdbcStoreContractTests extends StoreContractTests {

	private final TestDatabase database;

	JdbcStoreContractTests(TestDatabase database) {
		this.database = database;
	}

	@Override
	protected DelayedTaskStore openStore() {
		return JdbcStores.open(this.database, getClass());
	}

}

class H2MemoryStoreTests extends JdbcStoreContractTests {

	H2MemoryStoreTests() {
		super(TestDatabase.H2_MEMORY);
	}

}

class PostgresStoreTests extends JdbcStoreContractTests {

	PostgresStoreTests() {
		super(TestDatabase.POSTGRESQL);
	}

}

@Tag("servers")
class MariaDbStoreTests extends JdbcStoreContractTests {

	MariaDbStoreTests() {
		super(TestDatabase.MARIADB);
	}

}

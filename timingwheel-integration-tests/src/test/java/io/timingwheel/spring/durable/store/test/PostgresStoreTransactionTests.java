package io.timingwheel.spring.durable.store.test;

import io.timingwheel.spring.durable.jdbc.TestDatabase;

class PostgresStoreTransactionTests extends JdbcStoreTransactionContractTests {

	PostgresStoreTransactionTests() {
		super(TestDatabase.POSTGRESQL);
	}

}

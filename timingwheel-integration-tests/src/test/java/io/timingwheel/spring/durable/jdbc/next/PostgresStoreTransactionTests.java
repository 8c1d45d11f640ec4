package io.timingwheel.spring.durable.jdbc.next;

import io.timingwheel.spring.durable.jdbc.TestDatabase;

class PostgresStoreTransactionTests extends JdbcStoreTransactionContractTests {

	PostgresStoreTransactionTests() {
		super(TestDatabase.POSTGRESQL);
	}

}

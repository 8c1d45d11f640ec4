package io.timingwheel.spring.durable.jdbc;

class PostgresStoreTransactionTests extends JdbcStoreTransactionContractTests {

	PostgresStoreTransactionTests() {
		super(TestDatabase.POSTGRESQL);
	}

}

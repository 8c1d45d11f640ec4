package io.timingwheel.spring.durable.jdbc;

class H2SharedStoreTransactionTests extends JdbcStoreTransactionContractTests {

	H2SharedStoreTransactionTests() {
		super(TestDatabase.H2_SHARED);
	}

}

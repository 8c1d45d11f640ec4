package io.timingwheel.spring.durable.jdbc;

class H2MemoryStoreTransactionTests extends JdbcStoreTransactionContractTests {

	H2MemoryStoreTransactionTests() {
		super(TestDatabase.H2_MEMORY);
	}

}

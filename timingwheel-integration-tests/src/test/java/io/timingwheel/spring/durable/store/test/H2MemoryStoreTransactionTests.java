package io.timingwheel.spring.durable.store.test;

import io.timingwheel.spring.durable.jdbc.TestDatabase;

class H2MemoryStoreTransactionTests extends JdbcStoreTransactionContractTests {

	H2MemoryStoreTransactionTests() {
		super(TestDatabase.H2_MEMORY);
	}

}

package io.timingwheel.spring.durable.jdbc.next;

import io.timingwheel.spring.durable.jdbc.TestDatabase;

class H2SharedStoreTransactionTests extends JdbcStoreTransactionContractTests {

	H2SharedStoreTransactionTests() {
		super(TestDatabase.H2_SHARED);
	}

}

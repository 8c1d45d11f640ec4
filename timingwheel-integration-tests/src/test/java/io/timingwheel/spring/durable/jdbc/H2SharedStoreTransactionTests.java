package io.timingwheel.spring.durable.jdbc;

import org.junit.jupiter.api.Tag;

@Tag("servers")
class H2SharedStoreTransactionTests extends JdbcStoreTransactionContractTests {

	H2SharedStoreTransactionTests() {
		super(TestDatabase.H2_SHARED);
	}

}

package io.timingwheel.spring.durable.store.test;

import io.timingwheel.spring.durable.jdbc.TestDatabase;
import org.junit.jupiter.api.Tag;

@Tag("servers")
class H2SharedStoreTransactionTests extends JdbcStoreTransactionContractTests {

	H2SharedStoreTransactionTests() {
		super(TestDatabase.H2_SHARED);
	}

}

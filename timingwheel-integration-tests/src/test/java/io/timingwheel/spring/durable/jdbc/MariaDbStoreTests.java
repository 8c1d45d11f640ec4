package io.timingwheel.spring.durable.jdbc;

import io.timingwheel.spring.durable.StoreContractTests;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import org.junit.jupiter.api.Tag;

@Tag("servers")
class MariaDbStoreTests extends StoreContractTests {

	@Override
	protected DelayedTaskStore open() {
		return JdbcStores.open(TestDatabase.MARIADB, getClass());
	}

}

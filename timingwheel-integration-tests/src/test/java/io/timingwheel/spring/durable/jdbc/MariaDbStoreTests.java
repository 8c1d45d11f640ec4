package io.timingwheel.spring.durable.jdbc;

import io.timingwheel.spring.durable.StoreContractTests;
import io.timingwheel.spring.durable.store.DelayedTaskStore;

class MariaDbStoreTests extends StoreContractTests {

	@Override
	protected DelayedTaskStore open() {
		return JdbcStores.open(TestDatabase.MARIADB, getClass());
	}

}

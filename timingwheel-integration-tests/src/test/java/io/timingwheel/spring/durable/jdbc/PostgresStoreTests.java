package io.timingwheel.spring.durable.jdbc;

import io.timingwheel.spring.durable.StoreContractTests;
import io.timingwheel.spring.durable.store.DelayedTaskStore;

class PostgresStoreTests extends StoreContractTests {

	@Override
	protected DelayedTaskStore open() {
		return JdbcStores.open(TestDatabase.POSTGRESQL, getClass());
	}

}

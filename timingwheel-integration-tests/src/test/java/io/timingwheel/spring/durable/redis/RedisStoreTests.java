package io.timingwheel.spring.durable.redis;

import io.timingwheel.spring.durable.StoreContractTests;
import io.timingwheel.spring.durable.store.DelayedTaskStore;

class RedisStoreTests extends StoreContractTests {

	@Override
	protected DelayedTaskStore open() {
		return TestRedis.STANDALONE.stores(getClass()).node();
	}

}

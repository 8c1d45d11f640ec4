package io.timingwheel.spring.durable.redis;

import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.test.StoreContractTests;
import org.junit.jupiter.api.Tag;

class RedisStoreTests extends StoreContractTests {

	@Override
	protected DelayedTaskStore openStore() {
		return TestRedis.STANDALONE.stores(getClass()).node();
	}

}

@Tag("servers")
class RedisClusterStoreTests extends StoreContractTests {

	@Override
	protected DelayedTaskStore openStore() {
		return TestRedis.CLUSTER.stores(getClass()).node();
	}

}

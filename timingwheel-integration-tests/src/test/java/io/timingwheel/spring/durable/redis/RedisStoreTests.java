package io.timingwheel.spring.durable.redis;

import io.timingwheel.spring.durable.StoreContractTests;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import org.junit.jupiter.api.Tag;

class RedisStoreTests extends StoreContractTests {

	@Override
	protected DelayedTaskStore open() {
		return TestRedis.STANDALONE.stores(getClass()).node();
	}

}

@Tag("servers")
class RedisClusterStoreTests extends StoreContractTests {

	@Override
	protected DelayedTaskStore open() {
		return TestRedis.CLUSTER.stores(getClass()).node();
	}

}

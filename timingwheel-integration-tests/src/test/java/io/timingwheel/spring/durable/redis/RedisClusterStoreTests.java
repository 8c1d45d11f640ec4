package io.timingwheel.spring.durable.redis;

import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.DelayedTaskStoreContractTests;

class RedisClusterStoreTests extends DelayedTaskStoreContractTests {

	private final RedisStores stores = TestRedis.CLUSTER.stores(getClass());

	@Override
	protected void clear() {
		this.stores.clear();
	}

	@Override
	protected DelayedTaskStore node() {
		return this.stores.node();
	}

	@Override
	protected long clocksDiffer() {
		return 60_000;
	}

}

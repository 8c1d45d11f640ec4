package io.timingwheel.spring.durable.redis;

import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.StartLimitContractTests;
import org.junit.jupiter.api.Tag;

@Tag("faults")
class RedisClusterStartLimitTests extends StartLimitContractTests {

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
	protected boolean countsNodesWithoutTheLimit() {
		return false;
	}

}

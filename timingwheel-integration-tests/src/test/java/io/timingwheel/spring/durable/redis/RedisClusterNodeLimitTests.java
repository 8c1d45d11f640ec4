package io.timingwheel.spring.durable.redis;

import io.timingwheel.spring.durable.NodeLimitContractTests;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;

@Order(2)
@Tag("faults")
class RedisClusterNodeLimitTests extends NodeLimitContractTests {

	private final RedisStores stores = TestRedis.CLUSTER.stores(getClass());

	@Override
	protected void clear() {
		this.stores.clear();
	}

	@Override
	protected DelayedTaskStore node() {
		return this.stores.node();
	}

}

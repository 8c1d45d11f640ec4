package io.timingwheel.spring.durable.redis;

import io.timingwheel.spring.durable.NodeScheduleContractTests;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import org.junit.jupiter.api.Order;

@Order(2)
class RedisNodeScheduleTests extends NodeScheduleContractTests {

	private final RedisStores stores = TestRedis.STANDALONE.stores(getClass());

	@Override
	protected void clear() {
		this.stores.clear();
	}

	@Override
	protected DelayedTaskStore node() {
		return this.stores.node();
	}

}

package io.timingwheel.spring.durable.redis;

import io.timingwheel.spring.durable.DurableNodeContractTests;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import org.junit.jupiter.api.Order;

@Order(2)
class RedisNodeTests extends DurableNodeContractTests {

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

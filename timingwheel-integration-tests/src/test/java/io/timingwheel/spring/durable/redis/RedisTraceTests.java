package io.timingwheel.spring.durable.redis;

import io.timingwheel.spring.durable.DurableTraceContractTests;
import io.timingwheel.spring.durable.store.DelayedTaskStore;

class RedisTraceTests extends DurableTraceContractTests {

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

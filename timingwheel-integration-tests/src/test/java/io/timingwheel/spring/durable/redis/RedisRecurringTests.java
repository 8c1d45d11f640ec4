package io.timingwheel.spring.durable.redis;

import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.RecurringContractTests;

class RedisRecurringTests extends RecurringContractTests {

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

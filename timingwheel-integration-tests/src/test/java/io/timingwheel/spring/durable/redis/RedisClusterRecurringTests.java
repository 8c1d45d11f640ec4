package io.timingwheel.spring.durable.redis;

import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.RecurringContractTests;
import org.junit.jupiter.api.Tag;

@Tag("faults")
class RedisClusterRecurringTests extends RecurringContractTests {

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

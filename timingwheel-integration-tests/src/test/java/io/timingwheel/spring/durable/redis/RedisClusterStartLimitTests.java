package io.timingwheel.spring.durable.redis;

import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.StartLimitContractTests;
import org.junit.jupiter.api.Tag;

@Tag("faults")
class RedisClusterStartLimitTests extends StartLimitContractTests {

	private final RedisStores nodes = TestRedis.CLUSTER.stores(getClass());

	@Override
	protected void clear() {
		this.nodes.clear();
	}

	@Override
	protected DelayedTaskStore node() {
		return this.nodes.node();
	}

	@Override
	protected boolean countsNodesWithoutTheLimit() {
		return false;
	}

}

package io.timingwheel.spring.durable.redis;

import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.StartLimitContractTests;

class RedisStartLimitTests extends StartLimitContractTests {

	private final RedisStores nodes = TestRedis.STANDALONE.stores(getClass());

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

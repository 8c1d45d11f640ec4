package io.timingwheel.spring.durable.redis;

import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.DurableNodeContractTests;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/**
 * The contract on one Redis.
 */
class RedisNodeTests extends DurableNodeContractTests {

	private static RedisStores stores;

	@BeforeAll
	static void connect() {
		stores = RedisStores.on(RedisServers.standalone());
	}

	@AfterAll
	static void disconnect() {
		stores.close();
	}

	@Override
	protected void clear() {
		stores.clear();
	}

	@Override
	protected DelayedTaskStore node() {
		return stores.node();
	}

}

package io.timingwheel.spring.durable.redis;

import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.DelayedTaskStoreContractTests;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/**
 * The contract on a Cluster.
 */
class RedisClusterStoreTests extends DelayedTaskStoreContractTests {

	private static RedisStores stores;

	@BeforeAll
	static void connect() {
		stores = RedisServers.cluster().stores();
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

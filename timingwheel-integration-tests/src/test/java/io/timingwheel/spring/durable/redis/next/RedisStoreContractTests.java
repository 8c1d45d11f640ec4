package io.timingwheel.spring.durable.redis.next;

import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.test.DeliveryContractTests;
import io.timingwheel.spring.durable.store.test.StoringContractTests;
import org.junit.jupiter.api.Nested;

/**
 * The contract of a store, on one server.
 */
class RedisStoreContractTests {

	private static final RedisStores STORES = TestRedis.STANDALONE.stores(RedisStoreContractTests.class);

	@Nested
	class Storing extends StoringContractTests {

		@Override
		protected DelayedTaskStore openStore() {
			return STORES.node();
		}

	}

	@Nested
	class Delivery extends DeliveryContractTests {

		@Override
		protected DelayedTaskStore openStore() {
			return STORES.node();
		}

	}

}

package io.timingwheel.spring.durable.redis.next;

import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.test.DeliveryContractTests;
import io.timingwheel.spring.durable.store.test.OperatorContractTests;
import io.timingwheel.spring.durable.store.test.ScheduleContractTests;
import io.timingwheel.spring.durable.store.test.StartLimitContractTests;
import io.timingwheel.spring.durable.store.test.StoreRaceContractTests;
import io.timingwheel.spring.durable.store.test.StoringContractTests;
import org.junit.jupiter.api.Nested;

/**
 * The contract of a store, on a Cluster.
 */
class RedisClusterStoreContractTests {

	private static final RedisStores STORES = TestRedis.CLUSTER.stores(RedisClusterStoreContractTests.class);

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

	@Nested
	class Schedules extends ScheduleContractTests {

		@Override
		protected DelayedTaskStore openStore() {
			return STORES.node();
		}

	}

	@Nested
	class Operators extends OperatorContractTests {

		@Override
		protected DelayedTaskStore openStore() {
			return STORES.node();
		}

	}

	@Nested
	class StartLimits extends StartLimitContractTests {

		@Override
		protected DelayedTaskStore openStore() {
			return STORES.node();
		}

		@Override
		protected boolean countsRunsOfNodesWithoutTheLimit() {
			return false;
		}

	}

	@Nested
	class Races extends StoreRaceContractTests {

		@Override
		protected DelayedTaskStore openStore() {
			return STORES.node();
		}

	}

}

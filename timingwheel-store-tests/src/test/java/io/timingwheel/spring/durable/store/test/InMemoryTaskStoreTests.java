package io.timingwheel.spring.durable.store.test;

import io.timingwheel.spring.durable.store.DelayedTaskStore;
import org.junit.jupiter.api.Nested;

/**
 * The contract of a store, on the store in memory.
 */
// tag::contract[]
class InMemoryTaskStoreTests {

	private static final InMemoryTaskStore SERVER = new InMemoryTaskStore();

	private static DelayedTaskStore open() {
		return new InMemoryTaskStore(SERVER);
	}

	@Nested
	class Storing extends StoringContractTests {

		@Override
		protected DelayedTaskStore openStore() {
			return open();
		}

	}

	@Nested
	class Delivery extends DeliveryContractTests {

		@Override
		protected DelayedTaskStore openStore() {
			return open();
		}

	}

	@Nested
	class Schedules extends ScheduleContractTests {

		@Override
		protected DelayedTaskStore openStore() {
			return open();
		}

	}

	@Nested
	class StartLimits extends StartLimitContractTests {

		@Override
		protected DelayedTaskStore openStore() {
			return open();
		}

	}

	@Nested
	class Operators extends OperatorContractTests {

		@Override
		protected DelayedTaskStore openStore() {
			return open();
		}

	}

	@Nested
	class Races extends StoreRaceContractTests {

		@Override
		protected DelayedTaskStore openStore() {
			return open();
		}

	}

	@Nested
	class Cluster extends ClusterContractTests {

		@Override
		protected DelayedTaskStore openStore() {
			return open();
		}

	}

	@Nested
	class Model extends ModelContractTests {

		@Override
		protected DelayedTaskStore openStore() {
			return open();
		}

	}

}
// end::contract[]

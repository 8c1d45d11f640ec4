package io.timingwheel.spring.durable.jdbc.next;

import io.timingwheel.spring.durable.jdbc.TestDatabase;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.test.DeliveryContractTests;
import io.timingwheel.spring.durable.store.test.OperatorContractTests;
import io.timingwheel.spring.durable.store.test.ScheduleContractTests;
import io.timingwheel.spring.durable.store.test.StartLimitContractTests;
import io.timingwheel.spring.durable.store.test.StoreRaceContractTests;
import io.timingwheel.spring.durable.store.test.StoringContractTests;
import org.junit.jupiter.api.Nested;

class H2MemoryStoreTests {

	private static DelayedTaskStore open() {
		return JdbcStores.open(TestDatabase.H2_MEMORY, H2MemoryStoreTests.class);
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
	class Schedule extends ScheduleContractTests {

		@Override
		protected DelayedTaskStore openStore() {
			return open();
		}

	}

	@Nested
	class Operator extends OperatorContractTests {

		@Override
		protected DelayedTaskStore openStore() {
			return open();
		}

	}

	@Nested
	class StartLimit extends StartLimitContractTests {

		@Override
		protected DelayedTaskStore openStore() {
			return open();
		}

	}

	@Nested
	class StoreRace extends StoreRaceContractTests {

		@Override
		protected DelayedTaskStore openStore() {
			return open();
		}

	}

}

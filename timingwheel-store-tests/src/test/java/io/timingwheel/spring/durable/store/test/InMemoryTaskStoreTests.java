package io.timingwheel.spring.durable.store.test;

import io.timingwheel.spring.durable.store.DelayedTaskStore;
import org.junit.jupiter.api.Nested;

/**
 * The contract of a store, on the store in memory.
 */
// tag::contract[]
class InMemoryTaskStoreTests {

	private static final InMemoryTaskStore SERVER = new InMemoryTaskStore();

	interface Fixture extends StoreFixture {

		@Override
		default DelayedTaskStore openStore() {
			return new InMemoryTaskStore(SERVER);
		}

	}

	@Nested
	class Storing extends StoringContractTests implements Fixture {

	}
	// end::contract[]

	@Nested
	class Delivery extends DeliveryContractTests implements Fixture {

	}

	@Nested
	class StartLimits extends StartLimitContractTests implements Fixture {

	}

	@Nested
	class Operators extends OperatorContractTests implements Fixture {

	}

	@Nested
	class Races extends StoreRaceContractTests implements Fixture {

	}

	@Nested
	class Model extends ModelContractTests implements Fixture {

	}

}

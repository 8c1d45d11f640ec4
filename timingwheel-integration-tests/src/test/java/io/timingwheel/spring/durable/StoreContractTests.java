package io.timingwheel.spring.durable;

import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.test.DeliveryContractTests;
import io.timingwheel.spring.durable.store.test.ModelContractTests;
import io.timingwheel.spring.durable.store.test.OperatorContractTests;
import io.timingwheel.spring.durable.store.test.StartLimitContractTests;
import io.timingwheel.spring.durable.store.test.StoreRaceContractTests;
import io.timingwheel.spring.durable.store.test.StoringContractTests;
import org.junit.jupiter.api.Nested;

/**
 * The contract of a store. Each store has a subclass, so that stores are tested at the
 * same time.
 */
public abstract class StoreContractTests {

	protected abstract DelayedTaskStore open();

	@Nested
	class Storing extends StoringContractTests {

		@Override
		public DelayedTaskStore openStore() {
			return open();
		}

	}

	@Nested
	class Delivery extends DeliveryContractTests {

		@Override
		public DelayedTaskStore openStore() {
			return open();
		}

	}

	@Nested
	class StartLimits extends StartLimitContractTests {

		@Override
		public DelayedTaskStore openStore() {
			return open();
		}

	}

	@Nested
	class Operators extends OperatorContractTests {

		@Override
		public DelayedTaskStore openStore() {
			return open();
		}

	}

	@Nested
	class Races extends StoreRaceContractTests {

		@Override
		public DelayedTaskStore openStore() {
			return open();
		}

	}

	@Nested
	class Model extends ModelContractTests {

		@Override
		public DelayedTaskStore openStore() {
			return open();
		}

	}

}

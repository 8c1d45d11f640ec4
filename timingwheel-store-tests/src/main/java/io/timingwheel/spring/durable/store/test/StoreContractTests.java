package io.timingwheel.spring.durable.store.test;

import io.timingwheel.spring.durable.store.DelayedTaskStore;
import org.junit.jupiter.api.Nested;

/**
 * The contract of a store. Who writes a store extends this class. The classes of the
 * contract are {@link StoringContractTests}, {@link DeliveryContractTests},
 * {@link StartLimitContractTests}, {@link OperatorContractTests},
 * {@link StoreRaceContractTests} and {@link ModelContractTests}. Who leaves a feature out
 * extends them one by one, and overrides its tests.
 *
 * @since 0.1
 */
public abstract class StoreContractTests {

	/**
	 * Opens a store object, as {@link StoreContract#openStore()} does.
	 * @return another store object
	 * @throws Exception if the store cannot be opened
	 */
	protected abstract DelayedTaskStore openStore() throws Exception;

	@Nested
	class Storing extends StoringContractTests {

		@Override
		protected DelayedTaskStore openStore() throws Exception {
			return StoreContractTests.this.openStore();
		}

	}

	@Nested
	class Delivery extends DeliveryContractTests {

		@Override
		protected DelayedTaskStore openStore() throws Exception {
			return StoreContractTests.this.openStore();
		}

	}

	@Nested
	class StartLimits extends StartLimitContractTests {

		@Override
		protected DelayedTaskStore openStore() throws Exception {
			return StoreContractTests.this.openStore();
		}

	}

	@Nested
	class Operators extends OperatorContractTests {

		@Override
		protected DelayedTaskStore openStore() throws Exception {
			return StoreContractTests.this.openStore();
		}

	}

	@Nested
	class Races extends StoreRaceContractTests {

		@Override
		protected DelayedTaskStore openStore() throws Exception {
			return StoreContractTests.this.openStore();
		}

	}

	@Nested
	class Model extends ModelContractTests {

		@Override
		protected DelayedTaskStore openStore() throws Exception {
			return StoreContractTests.this.openStore();
		}

	}

}

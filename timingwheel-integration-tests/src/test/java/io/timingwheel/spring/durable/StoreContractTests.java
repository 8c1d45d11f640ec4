package io.timingwheel.spring.durable;

import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.test.ClusterContractTests;
import io.timingwheel.spring.durable.store.test.DeliveryContractTests;
import io.timingwheel.spring.durable.store.test.ModelContractTests;
import io.timingwheel.spring.durable.store.test.OperatorContractTests;
import io.timingwheel.spring.durable.store.test.ScheduleContractTests;
import io.timingwheel.spring.durable.store.test.StartLimitContractTests;
import io.timingwheel.spring.durable.store.test.StoreFixture;
import io.timingwheel.spring.durable.store.test.StoreRaceContractTests;
import io.timingwheel.spring.durable.store.test.StoringContractTests;
import org.junit.jupiter.api.Nested;

/**
 * The contract of a store. Each store has a subclass, so that stores are tested at the
 * same time.
 */
public abstract class StoreContractTests {

	/**
	 * Opens another store object on the data of this test class.
	 */
	protected abstract DelayedTaskStore open();

	interface Part extends StoreFixture {

		StoreContractTests whole();

		@Override
		default DelayedTaskStore openStore() {
			return whole().open();
		}

	}

	@Nested
	class Storing extends StoringContractTests implements Part {

		@Override
		public StoreContractTests whole() {
			return StoreContractTests.this;
		}

	}

	@Nested
	class Delivery extends DeliveryContractTests implements Part {

		@Override
		public StoreContractTests whole() {
			return StoreContractTests.this;
		}

	}

	@Nested
	class Schedules extends ScheduleContractTests implements Part {

		@Override
		public StoreContractTests whole() {
			return StoreContractTests.this;
		}

	}

	@Nested
	class StartLimits extends StartLimitContractTests implements Part {

		@Override
		public StoreContractTests whole() {
			return StoreContractTests.this;
		}

	}

	@Nested
	class Operators extends OperatorContractTests implements Part {

		@Override
		public StoreContractTests whole() {
			return StoreContractTests.this;
		}

	}

	@Nested
	class Races extends StoreRaceContractTests implements Part {

		@Override
		public StoreContractTests whole() {
			return StoreContractTests.this;
		}

	}

	@Nested
	class Cluster extends ClusterContractTests implements Part {

		@Override
		public StoreContractTests whole() {
			return StoreContractTests.this;
		}

	}

	@Nested
	class Model extends ModelContractTests implements Part {

		@Override
		public StoreContractTests whole() {
			return StoreContractTests.this;
		}

	}

}

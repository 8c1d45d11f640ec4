package io.timingwheel.spring.durable.jdbc;

import io.timingwheel.spring.durable.jdbc.TestDatabase;
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

class MariaDbStoreTests {

	interface Fixture extends StoreFixture {

		@Override
		default DelayedTaskStore openStore() {
			return JdbcStores.open(TestDatabase.MARIADB, MariaDbStoreTests.class);
		}

	}

	@Nested
	class Storing extends StoringContractTests implements Fixture {

	}

	@Nested
	class Delivery extends DeliveryContractTests implements Fixture {

	}

	@Nested
	class Schedules extends ScheduleContractTests implements Fixture {

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
	class Cluster extends ClusterContractTests implements Fixture {

	}

	@Nested
	class Model extends ModelContractTests implements Fixture {

	}

}

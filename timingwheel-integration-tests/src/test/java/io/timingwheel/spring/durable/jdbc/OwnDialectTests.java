package io.timingwheel.spring.durable.jdbc;

import com.zaxxer.hikari.HikariDataSource;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.test.DeliveryContractTests;
import io.timingwheel.spring.durable.store.test.StoreFixture;
import org.junit.jupiter.api.Nested;

/**
 * A dialect that an application brings for a database, here with the tables of H2 in a
 * schema of their own.
 */
class OwnDialectTests {

	interface Fixture extends StoreFixture {

		@Override
		default DelayedTaskStore openStore() {
			HikariDataSource pool = TestDatabase.H2_MEMORY.pool(OwnDialectTests.class);
			return new JdbcDelayedTaskStore(pool, pool, "public." + JdbcStores.TABLE, new OwnDialect());
		}

	}

	@Nested
	class Delivery extends DeliveryContractTests implements Fixture {

	}

	private static final class OwnDialect extends Dialect {

		OwnDialect() {
			super("H2", Schema.script("h2"));
		}

		@Override
		protected String clock() {
			return "cast(floor(extract(epoch from current_timestamp) * 1000) as bigint)";
		}

	}

}

package io.timingwheel.spring.durable.jdbc;

import com.zaxxer.hikari.HikariDataSource;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.test.DeliveryContractTests;

/**
 * A dialect that an application brings for a database, here with the tables of H2 in a
 * schema of their own.
 */
class OwnDialectTests extends DeliveryContractTests {

	@Override
	protected DelayedTaskStore openStore() {
		HikariDataSource pool = TestDatabase.H2_MEMORY.pool(OwnDialectTests.class);
		return new JdbcDelayedTaskStore(pool, pool, "public." + JdbcStores.TABLE, new OwnDialect());
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

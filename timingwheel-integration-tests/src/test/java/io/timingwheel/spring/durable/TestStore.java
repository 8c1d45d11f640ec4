package io.timingwheel.spring.durable;

import java.util.function.Function;

import io.timingwheel.spring.durable.jdbc.JdbcStores;
import io.timingwheel.spring.durable.jdbc.TestDatabase;
import io.timingwheel.spring.durable.redis.TestRedis;
import io.timingwheel.spring.durable.store.DelayedTaskStore;

/** The stores on which nodes are tried. */
enum TestStore {

	H2(TestDatabase.H2_MEMORY), POSTGRESQL(TestDatabase.POSTGRESQL), MARIADB(TestDatabase.MARIADB),
	REDIS(TestRedis.STANDALONE), REDIS_CLUSTER(TestRedis.CLUSTER);

	private final Function<Class<?>, DelayedTaskStore> opening;

	TestStore(TestDatabase database) {
		this.opening = (testClass) -> JdbcStores.open(database.pool(testClass));
	}

	TestStore(TestRedis server) {
		this.opening = (testClass) -> server.stores(testClass).node();
	}

	/** Opens a store of the data of a test class. */
	DelayedTaskStore open(Class<?> testClass) {
		return this.opening.apply(testClass);
	}

}

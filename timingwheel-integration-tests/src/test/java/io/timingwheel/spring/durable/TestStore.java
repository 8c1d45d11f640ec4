package io.timingwheel.spring.durable;

import java.util.function.Function;

import io.timingwheel.spring.durable.jdbc.TestDatabase;
import io.timingwheel.spring.durable.redis.TestRedis;

/**
 * The stores on which nodes are tried.
 */
enum TestStore {

	H2(TestDatabase.H2_MEMORY::stores), POSTGRESQL(TestDatabase.POSTGRESQL::stores),
	MARIADB(TestDatabase.MARIADB::stores), REDIS(TestRedis.STANDALONE::stores),
	REDIS_CLUSTER(TestRedis.CLUSTER::stores);

	private final Function<Class<?>, TestStores> stores;

	TestStore(Function<Class<?>, TestStores> stores) {
		this.stores = stores;
	}

	TestStores stores(Class<?> testClass) {
		return this.stores.apply(testClass);
	}

}

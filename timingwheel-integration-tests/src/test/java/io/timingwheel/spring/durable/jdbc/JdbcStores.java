package io.timingwheel.spring.durable.jdbc;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;

/** The stores of the tests of a class on a database of its own. */
public final class JdbcStores {

	public static final String TABLE = "timingwheel_task";

	private static final Map<Class<?>, HikariDataSource> patientPools = new ConcurrentHashMap<>();

	private JdbcStores() {
	}

	/**
	 * Opens a store that waits for locks for as long as a machine may stall.
	 * @param database the kind of database
	 * @param testClass the class of the test
	 */
	public static JdbcDelayedTaskStore open(TestDatabase database, Class<?> testClass) {
		HikariDataSource pool = database.pool(testClass);
		// H2 would wait two seconds.
		return open(!database.name().startsWith("H2") ? pool : patientPools.computeIfAbsent(testClass,
				(key) -> TestDatabase.newPool(pool.getJdbcUrl() + ";LOCK_TIMEOUT=60000", pool.getMaximumPoolSize())));
	}

	public static JdbcDelayedTaskStore open(DataSource dataSource) {
		return new JdbcDelayedTaskStore(dataSource, dataSource, TABLE, null);
	}

	static HikariDataSource withTables(HikariDataSource pool) {
		Schema.create(pool, null, TABLE);
		return pool;
	}

}

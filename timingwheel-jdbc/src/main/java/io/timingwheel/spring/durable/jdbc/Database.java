package io.timingwheel.spring.durable.jdbc;

import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

import javax.sql.DataSource;

import io.timingwheel.spring.durable.jdbc.Session.Settings;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.util.PropertyPlaceholderHelper;
import org.springframework.util.function.SingletonSupplier;

/** The database that keeps the tasks. Connects when it is first used. Thread-safe. */
final class Database {

	private static final PropertyPlaceholderHelper WORDS = new PropertyPlaceholderHelper("{", "}");

	final DataSource applicationDataSource;

	/** Whether all callers have the same database. */
	final boolean shared;

	private final String table;

	private final Supplier<Settings> settings;

	private final Supplier<Session> store;

	private final Supplier<Session> application;

	private volatile @Nullable LongSupplier clock;

	private final Map<String, String> texts = new ConcurrentHashMap<>();

	/** Ends each statement. */
	private volatile String comment = "";

	Database(DataSource applicationDataSource, DataSource storeDataSource, String table,
			@Nullable Dialect givenDialect) {
		Schema.checkTableName(table);
		this.applicationDataSource = applicationDataSource;
		this.shared = !isRouting(applicationDataSource);
		this.table = table;
		this.settings = SingletonSupplier.of(() -> Settings.read(storeDataSource, givenDialect));
		this.store = SingletonSupplier.of(() -> new Session(this.settings.get(), this));
		this.application = (this.shared && storeDataSource == applicationDataSource) ? this.store
				: SingletonSupplier.of(() -> new Session(Settings.read(applicationDataSource, dialect()), this));
	}

	Dialect dialect() {
		return this.settings.get().dialect();
	}

	/**
	 * Replaces the words in braces in a statement. The word {@code now} has one
	 * parameter, which is {@link #givenTime()}.
	 */
	String text(String statement) {
		return this.texts.computeIfAbsent(statement, (words) -> WORDS.replacePlaceholders(words, words()::get))
				+ this.comment;
	}

	/**
	 * Changes all statements when the size of the table passes a power of four.
	 * PostgreSQL keeps the plan for a text, and a plan for a small table reads all of it.
	 * No text is used again: PostgreSQL may have planned it after the size had changed,
	 * and before a claim saw that.
	 */
	synchronized void setSize(long bytes) {
		String size = " /* 4^" + (Long.SIZE - Long.numberOfLeadingZeros(bytes)) / 2 + " bytes since ";
		this.comment = this.comment.startsWith(size) ? this.comment : size + System.nanoTime() + " */";
	}

	private Map<String, String> words() {
		return Map.of("task", this.table, "name", this.table + "_name", "node", this.table + "_node", "pending",
				String.valueOf(TaskRow.PENDING), "running", String.valueOf(TaskRow.RUNNING), "dead",
				String.valueOf(TaskRow.DEAD), "suspect", String.valueOf(TaskRow.SUSPECT_QUEUE), "max",
				String.valueOf(DelayedTaskStore.MAX_TIME), "columns", TaskRow.COLUMNS, "now",
				"coalesce(?, " + dialect().clock() + ")");
	}

	Schema schema() {
		return new Schema(this.settings.get(), this.table);
	}

	void setClock(@Nullable LongSupplier millis) {
		this.clock = millis;
	}

	/** The time by the clock of a test, which may stand still. */
	@Nullable Long givenTime() {
		LongSupplier given = this.clock;
		return (given != null) ? given.getAsLong() : null;
	}

	Session caller() {
		return Objects.requireNonNullElseGet(joined(), this.application);
	}

	/**
	 * Runs what nodes and operators do. If a test has set the clock, a transaction of the
	 * calling thread counts, so that a test that is rolled back sees its own tasks run.
	 */
	Session node() {
		return Objects.requireNonNullElseGet((this.clock != null) ? joined() : null, this.store);
	}

	@Nullable Session joined() {
		ApplicationTransaction transaction = ApplicationTransaction.current(this.applicationDataSource);
		return (transaction != null) ? new Session(transaction, this) : null;
	}

	static boolean isRouting(DataSource dataSource) {
		return ApplicationTransaction.unwrap(dataSource) instanceof AbstractRoutingDataSource;
	}

}

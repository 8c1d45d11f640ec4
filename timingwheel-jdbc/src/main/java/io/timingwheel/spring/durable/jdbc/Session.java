package io.timingwheel.spring.durable.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.stream.Collectors;

import javax.sql.DataSource;

import io.timingwheel.spring.durable.store.DueTime;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.CannotGetJdbcConnectionException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.RowCallbackHandler;
import org.springframework.jdbc.core.RowMapper;
import org.springframework.jdbc.core.SqlParameterValue;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Runs the statements of a call, either in the transaction of the caller, which other
 * code ends, or in short transactions of their own, which have the isolation "read
 * committed" and run again after a collision with another transaction. Thread-safe.
 *
 * <p>
 * A statement has the words of {@link Database#text}. One of its parameters may be a
 * collection, whose values take the place of <code>{in}</code>.
 */
final class Session {

	private static final int ATTEMPTS = 20;

	private static final long MAX_PAUSE = Duration.ofMillis(10).toNanos();

	private static final long MAX_TIME = Duration.ofSeconds(5).toNanos();

	/** A plain null would let Spring ask the driver for its type. */
	private static final Object NULL = new SqlParameterValue(Types.NULL, null);

	final JdbcTemplate jdbc;

	final Database database;

	/** Makes savepoints in the transaction of the caller, or short transactions. */
	private final TransactionTemplate template;

	final boolean joined;

	private final boolean commitsEach;

	Session(ApplicationTransaction joined, Database database) {
		this.database = database;
		this.jdbc = database.dialect().template(Objects.requireNonNull(joined.getDataSource()));
		this.template = new TransactionTemplate(joined);
		this.template.setPropagationBehavior(TransactionDefinition.PROPAGATION_NESTED);
		this.joined = true;
		this.commitsEach = false;
	}

	Session(Settings settings, Database database) {
		this.database = database;
		// No transaction of the application is bound to this wrapper.
		DataSource own = new DelegatingDataSource(settings.dataSource());
		this.jdbc = settings.dialect().template(own);
		JdbcTransactionManager manager = new JdbcTransactionManager(own);
		manager.setExceptionTranslator(this.jdbc.getExceptionTranslator());
		this.template = new TransactionTemplate(manager);
		if (!settings.readCommitted()) {
			this.template.setIsolationLevel(TransactionDefinition.ISOLATION_READ_COMMITTED);
		}
		this.joined = false;
		this.commitsEach = settings.autoCommit() && settings.readCommitted();
	}

	/** The milliseconds of a duration, at most the last time that can be stored. */
	static long millis(Duration duration) {
		return DueTime.after(duration).resolve(0);
	}

	/** A power of two, so that there are few different statements. */
	static int padded(int size) {
		return (size <= 1) ? 1 : Integer.highestOneBit(size - 1) << 1;
	}

	/** Runs one statement, or statements that need no common transaction. */
	<T extends @Nullable Object> T single(Function<Session, T> statement) {
		return retried(true, statement);
	}

	<T extends @Nullable Object> T transaction(Function<Session, T> statements) {
		return retried(false, statements);
	}

	private <T extends @Nullable Object> T retried(boolean single, Function<Session, T> statements) {
		long start = System.nanoTime();
		for (int i = 1; true; i++) {
			try {
				return once(single, statements);
			}
			catch (ConcurrencyFailureException | DuplicateKeyException ex) {
				if (this.joined || i == ATTEMPTS || System.nanoTime() - start > MAX_TIME) {
					// This is not a short collision: another transaction holds a lock.
					throw ex;
				}
				LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(MAX_PAUSE));
			}
		}
	}

	/**
	 * Runs statements once. A single statement needs no transaction. But with
	 * synchronizations on the thread, its connection would stay bound until they end.
	 */
	<T extends @Nullable Object> T once(boolean single, Function<Session, T> statements) {
		if (this.joined
				|| (single && this.commitsEach && !TransactionSynchronizationManager.isSynchronizationActive())) {
			return statements.apply(this);
		}
		return this.template.execute((status) -> statements.apply(this));
	}

	/**
	 * Runs statements that take effect all or not at all, so that the caller may commit
	 * its transaction after an exception.
	 */
	<T extends @Nullable Object> T allOrNone(Function<Session, T> statements) {
		return this.joined ? this.template.execute((status) -> statements.apply(this)) : transaction(statements);
	}

	Dialect dialect() {
		return this.database.dialect();
	}

	long now() {
		Long given = this.database.givenTime();
		return (given != null) ? given : query("select " + dialect().clock(), (rs, rowNum) -> rs.getLong(1)).get(0);
	}

	int update(String statement, @Nullable Object... parameters) {
		return this.jdbc.update(text(statement, parameters), flat(parameters));
	}

	void batch(String statement, List<Object[]> rows) {
		this.jdbc.batchUpdate(this.database.text(statement), rows.stream().map(Session::flat).toList());
	}

	<T> List<T> query(String statement, RowMapper<T> mapper, @Nullable Object... parameters) {
		return this.jdbc.query(text(statement, parameters), mapper, flat(parameters));
	}

	void forEach(String statement, RowCallbackHandler row, @Nullable Object... parameters) {
		this.jdbc.query(text(statement, parameters), row, flat(parameters));
	}

	List<String> strings(String statement, @Nullable Object... parameters) {
		return query(statement, (rs, rowNum) -> rs.getString(1), parameters);
	}

	List<String> texts(String statement, @Nullable Object... parameters) {
		return query(statement, (rs, rowNum) -> String.valueOf(dialect().text(rs, 1)), parameters);
	}

	List<TaskRow> rows(String statement, @Nullable Object... parameters) {
		return query(statement, (rs, rowNum) -> TaskRow.read(rs, dialect()), parameters);
	}

	/** Locks tasks, except those that another transaction has locked. */
	Map<String, TaskRow> lock(Collection<String> ids) {
		TreeSet<String> ordered = new TreeSet<>(ids);
		return byId(rows(dialect().lockFirst("{columns}", "{task} where id {in} order by id", padded(ordered.size())),
				ordered));
	}

	Map<String, TaskRow> read(Collection<String> ids) {
		return ids.isEmpty() ? Map.of() : byId(rows("select {columns} from {task} where id {in}", ids));
	}

	private static Map<String, TaskRow> byId(List<TaskRow> rows) {
		return rows.stream().collect(Collectors.toMap((row) -> row.id, Function.identity()));
	}

	void write(List<TaskRow> rows) {
		batch(TaskRow.WRITE,
				rows.stream()
					.filter((row) -> row.status != TaskRow.GONE)
					.map((row) -> row.values(dialect(), row.id))
					.toList());
		List<String> gone = rows.stream().filter((row) -> row.status == TaskRow.GONE).map((row) -> row.id).toList();
		if (!gone.isEmpty()) {
			update("delete from {task} where id {in}", gone);
		}
	}

	/** Inserts rows, and gives the ids of those whose keys are taken. */
	Set<String> insert(Collection<TaskRow> rows, long now) {
		Set<String> ids = rows.stream().map((row) -> row.id).collect(Collectors.toSet());
		boolean keyed = rows.stream().anyMatch((row) -> row.key != null);
		String unlessTaken = keyed ? dialect().unlessTaken() : "";
		try {
			batch(TaskRow.INSERT + unlessTaken, rows.stream().map((row) -> row.insertion(dialect(), now)).toList());
			if (unlessTaken.isEmpty()) {
				return Set.of();
			}
		}
		catch (DuplicateKeyException ex) {
			// The database has inserted the other rows of the batch.
		}
		// No database tells which rows a batch has inserted.
		strings("select id from {task} where id {in}", ids).forEach(ids::remove);
		return ids;
	}

	private String text(String statement, @Nullable Object[] parameters) {
		for (Object parameter : parameters) {
			if (parameter instanceof Collection<?> values) {
				String list = String.join(", ", Collections.nCopies(padded(values.size()), "?"));
				return this.database.text(statement.replace("{in}", "in (" + list + ")"));
			}
		}
		return this.database.text(statement);
	}

	/** Nulls, which equal no value, fill up the list of a collection. */
	private static Object[] flat(@Nullable Object[] parameters) {
		List<Object> flat = new ArrayList<>(parameters.length);
		for (Object parameter : parameters) {
			if (parameter instanceof Collection<?> values) {
				flat.addAll(values);
				flat.addAll(Collections.nCopies(padded(values.size()) - values.size(), NULL));
			}
			else {
				flat.add((parameter != null) ? parameter : NULL);
			}
		}
		return flat.toArray();
	}

	/** The settings with which a data source gives its connections. */
	record Settings(DataSource dataSource, Dialect dialect, boolean autoCommit, boolean readCommitted) {

		static Settings read(DataSource dataSource, @Nullable Dialect given) {
			DataSource target = target(dataSource);
			if (given != null && Database.isRouting(target)) {
				// Each connection may have other settings.
				return new Settings(target, given, false, false);
			}
			try (Connection connection = target.getConnection()) {
				Dialect dialect = (given != null) ? given : Dialects.of(connection);
				return new Settings(target, dialect, connection.getAutoCommit(),
						connection.getTransactionIsolation() == Connection.TRANSACTION_READ_COMMITTED);
			}
			catch (SQLException ex) {
				throw new CannotGetJdbcConnectionException("Failed to connect to the database of the durable tasks",
						ex);
			}
		}

		private static DataSource target(DataSource dataSource) {
			return (dataSource instanceof TransactionAwareDataSourceProxy proxy && proxy.getTargetDataSource() != null)
					? proxy.getTargetDataSource() : dataSource;
		}

	}

}

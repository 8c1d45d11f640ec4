package io.timingwheel.spring.durable.jdbc;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.IntStream;

import javax.sql.DataSource;

import io.timingwheel.spring.durable.UnusableTaskStoreException;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.Resource;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.dao.RecoverableDataAccessException;
import org.springframework.dao.TransientDataAccessException;
import org.springframework.jdbc.BadSqlGrammarException;
import org.springframework.jdbc.core.JdbcOperations;

/**
 * The table of durable tasks in one database, and the version of its schema. Immutable
 * and thread-safe.
 *
 * <p>
 * Each version has a script, which makes the schema of this version from the schema of
 * the version before it. A script adds tables, indexes, and columns that may be null or
 * have a default, and may drop indexes. So nodes of the release before can use the new
 * schema, and a node accepts a schema that is newer than its own. From version 2 on, the
 * last statement of each script stores the version in the table
 * {@code timingwheel_task_version}.
 *
 * @since 0.1
 */
public final class JdbcStoreSchema {

	/**
	 * The version of the schema that this release needs.
	 */
	public static final int VERSION = 3;

	/**
	 * The location of the first script, with a placeholder for the platform.
	 */
	public static final String FIRST_SCRIPT = "classpath:io/timingwheel/spring/durable/jdbc/schema-@@platform@@.sql";

	/** The SQL states for a table that is missing: of PostgreSQL, and of the others. */
	private static final Set<String> NO_TABLE = Set.of("42P01", "42S02", "42S03", "42S04");

	private static final Log logger = LogFactory.getLog(JdbcDelayedTaskStore.class);

	private final ConnectionSettings settings;

	private final TableName table;

	private JdbcStoreSchema(ConnectionSettings settings, TableName table) {
		this.settings = settings;
		this.table = table;
	}

	/**
	 * Checks the name of a table.
	 * @param tableName the name, such as {@code timingwheel_task} or {@code schema.table}
	 * @throws IllegalArgumentException if the name is too long, or has other characters
	 * than letters, digits and underscores
	 */
	public static void checkTableName(String tableName) {
		new TableName(tableName);
	}

	/**
	 * Connects to a database to find out which kind of database it is.
	 * @param dataSource the data source that leads to the database
	 * @param tableName the table, such as {@code timingwheel_task} or
	 * {@code schema.table}
	 * @return the schema for this kind of database
	 * @throws IllegalArgumentException if the name is too long, or has other characters
	 * than letters, digits and underscores
	 * @throws UnusableTaskStoreException if the database is of a kind that cannot keep
	 * tasks
	 * @throws org.springframework.dao.DataAccessException if there is no connection
	 */
	public static JdbcStoreSchema of(DataSource dataSource, String tableName) {
		TableName table = new TableName(tableName);
		return new JdbcStoreSchema(ConnectionSettings.read(dataSource), table);
	}

	/**
	 * The kind of database, as in the names of the scripts in this package. For example,
	 * {@code schema-h2.sql} is the first script for {@code h2}.
	 * @return {@code h2}, {@code postgresql}, {@code mariadb} or {@code mysql}
	 */
	public String platform() {
		return this.settings.platform().name().toLowerCase(Locale.ROOT);
	}

	/**
	 * The version of the schema in the database. A table of tasks that has no version
	 * beside it has version 1.
	 * @return the version, 0 if there is no table of tasks
	 * @throws org.springframework.dao.DataAccessException if the database does not
	 * answer, or the user may not read the table
	 */
	public int version() {
		if (!exists("select id from " + this.table + " where 1 = 0")) {
			return 0;
		}
		String versions = "select version from " + this.table.versionTable();
		if (!exists(versions + " where 1 = 0")) {
			return 1;
		}
		return this.settings.transactions()
			.single((jdbc) -> jdbc.queryForList(versions, Integer.class))
			.stream()
			.mapToInt(Integer::intValue)
			.max()
			.orElse(1);
	}

	private boolean exists(String query) {
		try {
			this.settings.transactions().single((jdbc) -> jdbc.queryForList(query));
			return true;
		}
		catch (BadSqlGrammarException ex) {
			if (ex.getCause() instanceof SQLException cause && NO_TABLE.contains(String.valueOf(cause.getSQLState()))) {
				return false;
			}
			// For example, the user may not read the table.
			throw ex;
		}
	}

	/**
	 * The locations of the scripts that bring a schema to {@link #VERSION}, in the order
	 * in which they have to run.
	 * @param platform the platform in the names of the scripts, as in {@link #platform()}
	 * @param version the version of the schema
	 * @return the locations, none if the version is not older
	 */
	public static List<String> scripts(String platform, int version) {
		String first = FIRST_SCRIPT.replace("@@platform@@", platform);
		return IntStream.rangeClosed(version + 1, VERSION)
			.mapToObj((next) -> (next == 1) ? first : first.replace(".sql", "-" + next + ".sql"))
			.toList();
	}

	/**
	 * Runs scripts of this package. Several nodes may run the scripts at the same time.
	 * If a script then fails on a node, this node has to look for the {@link #version()}
	 * again, and run the scripts that are left.
	 *
	 * <p>
	 * On H2, one node after another runs the scripts. H2 copies a table to alter the
	 * table, and may lose an index or a column when two connections do so at the same
	 * time. Nodes in other processes wait for a row of the table of the version, so a
	 * node that dies does not keep the lock. This lock takes a second connection. A
	 * database in memory belongs to this process, and needs no such lock.
	 * @param scripts runs the scripts
	 * @throws org.springframework.dao.DataAccessException if the lock is not free within
	 * a minute
	 */
	public void upgrade(Runnable scripts) {
		if (this.settings.platform() != Platform.H2) {
			scripts.run();
			return;
		}
		if (this.settings.isInMemory()) {
			synchronized (JdbcStoreSchema.class) {
				scripts.run();
			}
			return;
		}
		ShortTransactions transactions = this.settings.transactions();
		transactions.single((jdbc) -> {
			jdbc.execute("create table if not exists %s (version integer not null primary key)"
				.formatted(this.table.versionTable()));
			return null;
		});
		transactions.whileLocked(
				(jdbc) -> jdbc
					.update("merge into %s (version) key (version) values (1)".formatted(this.table.versionTable())),
				scripts);
	}

	/**
	 * How many connections {@link #upgrade} takes at the same time.
	 * @return the number
	 */
	public int upgradeConnections() {
		return (this.settings.platform() == Platform.H2 && !this.settings.isInMemory()) ? 2 : 1;
	}

	/**
	 * Replaces the default name in a script by the name of this table.
	 * @param script a script for the table {@code timingwheel_task}, in UTF-8
	 * @return the script with the name of this table
	 * @throws UncheckedIOException if the script cannot be read
	 */
	public Resource forTable(Resource script) {
		try {
			String text = this.table.appliedTo(script.getContentAsString(StandardCharsets.UTF_8));
			return new ByteArrayResource(text.getBytes(StandardCharsets.UTF_8), script.getDescription());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Checks that the database and the tables can keep tasks, and that the user may do
	 * what a node does.
	 * @throws UnusableTaskStoreException if they cannot
	 */
	void check() {
		ShortTransactions transactions = this.settings.transactions();
		checkVersion();
		checkTables(transactions);
		switch (this.settings.platform()) {
			case H2 -> transactions.single(this::checkWriteDelay);
			case MARIADB, MYSQL -> transactions.single(this::checkStorageEngine);
			default -> {
			}
		}
	}

	private void checkVersion() {
		int version;
		try {
			version = version();
		}
		catch (DataAccessException ex) {
			throw unlessOutage(ex);
		}
		String scripts = String.join(", ", scripts(platform(), version));
		if (version == 0) {
			throw new UnusableTaskStoreException("the table %s of the durable tasks is missing".formatted(this.table),
					("create the table with these scripts, in this order: %s. Or set"
							+ " timingwheel.store.jdbc.initialize-schema=always to have it created")
						.formatted(scripts));
		}
		if (version < VERSION) {
			throw new UnusableTaskStoreException(
					"the schema of the table %s of the durable tasks has version %d, and this release needs version %d"
						.formatted(this.table, version, VERSION),
					("run these scripts, in this order: %s. Nodes of the earlier release can go on meanwhile. Or set"
							+ " timingwheel.store.jdbc.initialize-schema=always to have the scripts run at the start")
						.formatted(scripts));
		}
	}

	/**
	 * Tries the statements of a node on no rows.
	 */
	private void checkTables(ShortTransactions transactions) {
		try {
			transactions.single((jdbc) -> jdbc.queryForList(
					"select %s, payload, traceparent, pending_key, next_at, error, created_at, died_at, schedule_key from %s where 1 = 0"
						.formatted(TaskRow.COLUMNS, this.table)));
			transactions
				.single((jdbc) -> jdbc.queryForList("select name, paused, next_start, cancelled from %s where 1 = 0"
					.formatted(this.table.limitTable())));
			transactions
				.single((jdbc) -> jdbc.queryForList("select id, claiming, in_flight, reported_at from %s where 1 = 0"
					.formatted(this.table.nodeTable())));
			checkChanges(transactions, this.table.qualified(), "id");
			checkChanges(transactions, this.table.limitTable(), "name");
			checkChanges(transactions, this.table.nodeTable(), "id");
		}
		catch (DataAccessException ex) {
			throw unlessOutage(ex);
		}
	}

	private static void checkChanges(ShortTransactions transactions, String table, String column) {
		String none = table + " where 1 = 0";
		for (String change : List.of("insert into %s select * from %s".formatted(table, none),
				"update %s set %s = %2$s where 1 = 0".formatted(table, column), "delete from " + none)) {
			transactions.single((jdbc) -> jdbc.update(change));
		}
		transactions.transaction((jdbc, status) -> jdbc
			.queryForList("select %s from %s for update skip locked".formatted(column, none)));
	}

	/**
	 * Translates a failure of the check. During an outage nobody can tell whether the
	 * tables are right.
	 */
	private RuntimeException unlessOutage(DataAccessException failure) {
		if (failure instanceof TransientDataAccessException || failure instanceof RecoverableDataAccessException
				|| failure instanceof DataAccessResourceFailureException) {
			return failure;
		}
		return new UnusableTaskStoreException(
				"the table %s of the durable tasks, or a table beside it, cannot be used as in version %d of their schema: %s"
					.formatted(this.table, VERSION, message(failure)),
				("give the user of the node the rights to select, insert, update and delete in the tables %s, %s and %s, and to"
						+ " select in the table %s, on a server that is not read-only. If they have the rights, or a table"
						+ " is missing, compare the tables with the scripts %s")
					.formatted(this.table, this.table.limitTable(), this.table.nodeTable(), this.table.versionTable(),
							String.join(", ", scripts(platform(), 0))),
				failure);
	}

	/**
	 * What the database says. H2 adds the statement in further lines.
	 */
	private static String message(DataAccessException failure) {
		return String.valueOf(failure.getMostSpecificCause().getMessage())
			.lines()
			.findFirst()
			.orElse("")
			.replaceFirst("[.;:]? *(SQL statement:)?$", "");
	}

	private Void checkWriteDelay(JdbcOperations jdbc) {
		// In capitals, since H2 may have been told to leave names as they are.
		List<String> delays = jdbc
			.query("SELECT SETTING_VALUE FROM INFORMATION_SCHEMA.SETTINGS WHERE SETTING_NAME = 'WRITE_DELAY'"
					+ " AND DATABASE_PATH() IS NOT NULL", (rs, rowNum) -> String.valueOf(rs.getString(1)));
		if (delays.stream().anyMatch((delay) -> !delay.equals("0"))) {
			logger.warn("The H2 database " + this.settings.url() + " writes committed changes with a delay of " + delays
					+ " ms: a crash loses the durable tasks that were stored in this time. Append ;WRITE_DELAY=0 to its URL.");
		}
		return null;
	}

	private Void checkStorageEngine(JdbcOperations jdbc) {
		String name = this.table.qualified();
		int dot = name.indexOf('.');
		List<String> engines = jdbc.query(
				"select engine from information_schema.tables where table_name = ? and table_schema = "
						+ ((dot < 0) ? "database()" : "'" + name.substring(0, dot) + "'"),
				(rs, rowNum) -> String.valueOf(rs.getString(1)), name.substring(dot + 1));
		if (engines.stream().anyMatch((engine) -> !"InnoDB".equalsIgnoreCase(engine))) {
			throw new UnusableTaskStoreException(
					"the table %s of the durable tasks has the storage engine %s, which has no transactions"
						.formatted(this.table, engines),
					"change the storage engine: alter table %s engine = InnoDB".formatted(this.table));
		}
		return null;
	}

}

package io.timingwheel.spring.durable.jdbc;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;

import javax.sql.DataSource;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.Resource;
import org.springframework.jdbc.BadSqlGrammarException;
import org.springframework.jdbc.core.JdbcOperations;

/**
 * The table of durable tasks in one database. Immutable and thread-safe.
 *
 * @since 0.1
 */
public final class JdbcStoreSchema {

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
	 * @throws IllegalArgumentException if the name has other characters than letters,
	 * digits and underscores
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
	 * @throws IllegalArgumentException if the name has other characters than letters,
	 * digits and underscores
	 * @throws IllegalStateException if the database is of a kind that cannot keep tasks
	 * @throws org.springframework.dao.DataAccessException if there is no connection
	 */
	public static JdbcStoreSchema of(DataSource dataSource, String tableName) {
		TableName table = new TableName(tableName);
		return new JdbcStoreSchema(ConnectionSettings.read(dataSource), table);
	}

	/**
	 * The kind of database, as in the names of the scripts in this package. For example,
	 * {@code schema-h2.sql} is the script for {@code h2}.
	 * @return {@code h2}, {@code postgresql}, {@code mariadb} or {@code mysql}
	 */
	public String platform() {
		return this.settings.platform().name().toLowerCase(Locale.ROOT);
	}

	/**
	 * Replaces the default name in a script by the name of this table. The scripts of
	 * this package create the table only if the table does not exist. Several nodes may
	 * run such a script at the same time. If the script then fails on a node, this node
	 * has to run the script again.
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
	 * Checks that the database and the table can keep tasks.
	 * @throws IllegalStateException if they cannot; the message names the remedy
	 */
	void check() {
		this.settings.platform().checkVersion(this.settings.major(), this.settings.minor());
		ShortTransactions transactions = this.settings.transactions();
		try {
			transactions.single((jdbc) -> jdbc
				.queryForList("select %s, payload, pending_key, next_at, error, created_at, died_at from %s where 1 = 0"
					.formatted(TaskRow.COLUMNS, this.table)));
		}
		catch (BadSqlGrammarException ex) {
			throw new IllegalStateException(("The table %s of the durable tasks is missing or has other columns. Create"
					+ " it with the script %s, or set timingwheel.store.jdbc.initialize-schema=always to have it created.")
				.formatted(this.table, this.settings.platform().script()), ex);
		}
		switch (this.settings.platform()) {
			case H2 -> transactions.single(this::checkWriteDelay);
			case MARIADB, MYSQL -> transactions.single(this::checkStorageEngine);
			default -> {
			}
		}
	}

	private Void checkWriteDelay(JdbcOperations jdbc) {
		List<String> delays = jdbc
			.query("select setting_value from information_schema.settings where setting_name = 'WRITE_DELAY'"
					+ " and database_path() is not null", (rs, rowNum) -> String.valueOf(rs.getString(1)));
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
			throw new IllegalStateException(("The table %s of the durable tasks has the storage engine %s, which has no"
					+ " transactions. Change it: alter table %1$s engine = InnoDB")
				.formatted(this.table, engines));
		}
		return null;
	}

}

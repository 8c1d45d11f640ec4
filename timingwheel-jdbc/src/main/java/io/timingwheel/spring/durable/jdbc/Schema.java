package io.timingwheel.spring.durable.jdbc;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Pattern;

import javax.sql.DataSource;

import io.timingwheel.spring.durable.store.UnusableTaskStoreException;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.core.NestedExceptionUtils;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.DefaultResourceLoader;
import org.springframework.core.io.Resource;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.dao.RecoverableDataAccessException;
import org.springframework.dao.TransientDataAccessException;
import org.springframework.jdbc.BadSqlGrammarException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.jdbc.datasource.init.ScriptException;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;
import org.springframework.util.Assert;

/**
 * The tables of durable tasks in one database, and the version of their schema.
 * Thread-safe.
 *
 * <p>
 * A script creates the tables, and can run again after it has failed. A later version may
 * add tables, indexes, and columns that may be null or have a default. So a node accepts
 * a schema that is newer than its own.
 *
 * @since 0.1
 */
public final class Schema {

	private static final Log logger = LogFactory.getLog(Schema.class);

	static final int VERSION = 1;

	private static final int ATTEMPTS = 10;

	private static final Set<String> NO_TABLE = Set.of("42P01", "42S02", "42S03", "42S04");

	/** PostgreSQL cuts names after 63 characters, also those with "_listing". */
	private static final Pattern TABLE_NAME = Pattern.compile("([A-Za-z_]\\w*\\.)?[A-Za-z_]\\w{0,54}");

	/**
	 * The first ones with "skip locked", and the first PostgreSQL that inlines "with".
	 */
	private static final String IF_OLDER = ". If the database is older than H2 2.2, PostgreSQL 12, MariaDB 10.6 or MySQL 8, update it";

	private final Session.Settings settings;

	private final String table;

	private final String script;

	private final JdbcTemplate jdbc;

	Schema(Session.Settings settings, String table) {
		this.settings = settings;
		this.table = table;
		this.script = settings.dialect().script();
		// No transaction of the application is bound to this wrapper.
		this.jdbc = settings.dialect().template(new DelegatingDataSource(settings.dataSource()));
	}

	/**
	 * Creates the tables if they are missing. Several nodes may do this at the same time.
	 * @param dialect the dialect of a database that this library does not know,
	 * {@code null} for the others
	 * @param tableName such as {@code timingwheel_task} or {@code schema.table}
	 * @throws IllegalArgumentException as {@link #checkTableName}
	 * @throws UnusableTaskStoreException if the database cannot keep tasks, does not
	 * answer, or refuses to create the tables
	 */
	public static void create(DataSource dataSource, @Nullable Dialect dialect, String tableName) {
		checkTableName(tableName);
		try {
			new Schema(Session.Settings.read(dataSource, dialect), tableName).create(dataSource);
		}
		catch (DataAccessException ex) {
			throw UnusableTaskStoreException.of(ex);
		}
	}

	/** The script fails on one node if another node runs it at the same time. */
	private void create(DataSource dataSource) {
		for (int i = 1; true; i++) {
			try {
				if (isMissing()) {
					new ResourceDatabasePopulator(false, false, StandardCharsets.UTF_8.name(), resource())
						.execute(dataSource);
				}
				return;
			}
			catch (DataAccessException ex) {
				if (i == ATTEMPTS || !(ex instanceof ScriptException)) {
					throw new UnusableTaskStoreException(
							"the tables of the durable tasks cannot be created (%s)"
								.formatted(NestedExceptionUtils.getMostSpecificCause(ex).getMessage()),
							("give the user of the DataSource the rights to create tables and indexes. Or let another user"
									+ " run the script %s, without Schema.create"
									+ " (timingwheel.store.jdbc.initialize-schema=never)" + IF_OLDER)
								.formatted(this.script),
							ex);
				}
				logger.debug("Failed to create the tables of durable tasks. Another node may be creating them.", ex);
			}
		}
	}

	/**
	 * @param tableName such as {@code timingwheel_task} or {@code schema.table}
	 * @throws IllegalArgumentException if the name is too long, or has other characters
	 * than letters, digits and underscores
	 */
	public static void checkTableName(String tableName) {
		Assert.isTrue(TABLE_NAME.matcher(tableName).matches(), () -> "The table name \"" + tableName
				+ "\" must consist of at most 55 letters, digits and underscores, with or without a schema: schema.table");
	}

	static String script(String platform) {
		return "classpath:io/timingwheel/spring/durable/jdbc/schema-%s.sql".formatted(platform);
	}

	private boolean isMissing() {
		try {
			this.jdbc.queryForList("select id from " + this.table + " where 1 = 0");
			Integer version = this.jdbc.queryForObject("select max(version) from " + this.table + "_version",
					Integer.class);
			return version == null || version < VERSION;
		}
		catch (BadSqlGrammarException ex) {
			SQLException cause = ex.getSQLException();
			if (cause != null && NO_TABLE.contains(String.valueOf(cause.getSQLState()))) {
				return true;
			}
			// For example, the user may not read the table.
			throw ex;
		}
	}

	/** The script, with the name of this table in place of the default name. */
	private Resource resource() {
		try {
			Resource script = new DefaultResourceLoader().getResource(this.script);
			// An index has no schema in its name.
			String text = script.getContentAsString(StandardCharsets.UTF_8)
				.replace("timingwheel_task", this.table)
				.replaceAll(Pattern.quote(this.table) + "_(?!(name|node|version)\\b)",
						this.table.substring(this.table.indexOf('.') + 1) + "_");
			return new ByteArrayResource(text.getBytes(StandardCharsets.UTF_8), script.getDescription());
		}
		catch (IOException ex) {
			throw new UnusableTaskStoreException("the script %s cannot be read".formatted(this.script),
					"let the Dialect name a script that is on the class path", ex);
		}
	}

	void check() {
		try {
			if (isMissing()) {
				throw new UnusableTaskStoreException(
						"the table %s of the durable tasks is missing, or %1$s_version".formatted(this.table),
						("run the script %s, for another table name in a changed copy, or call Schema.create. The store that"
								+ " Spring Boot declares does this at the start with timingwheel.store.jdbc.initialize-schema=always")
							.formatted(this.script));
			}
			checkRights(this.table, TaskRow.NAMES);
			checkRights(this.table + "_name", "name, paused, next_start, cancelled");
			checkRights(this.table + "_node", "id, claiming, in_flight, reported_at");
		}
		catch (DataAccessException ex) {
			throw unlessOutage(ex);
		}
	}

	// Tries the statements of a node on no rows.
	private void checkRights(String table, String columns) {
		String key = columns.substring(0, columns.indexOf(','));
		String none = table + " where 1 = 0";
		JdbcTransactionManager manager = new JdbcTransactionManager(Objects.requireNonNull(this.jdbc.getDataSource()));
		new TransactionTemplate(manager).executeWithoutResult((status) -> {
			this.jdbc.queryForList(this.settings.dialect().lockFirst(columns, none, 1));
			for (String change : List.of("insert into %s (%s) select %2$s from %s",
					"update %s set %4$s = %4$s where 1 = 0", "delete from %3$s")) {
				this.jdbc.update(change.formatted(table, columns, none, key));
			}
		});
	}

	// During an outage nobody can tell whether the tables are right.
	private RuntimeException unlessOutage(DataAccessException failure) {
		if (failure instanceof TransientDataAccessException || failure instanceof RecoverableDataAccessException
				|| failure instanceof DataAccessResourceFailureException) {
			return failure;
		}
		// H2 adds the statement in further lines.
		String message = String.valueOf(failure.getMostSpecificCause().getMessage())
			.replaceFirst("(?s)(; SQL statement:|\\R).*", "");
		return new UnusableTaskStoreException(
				"the table %s of the durable tasks, or a table beside it, cannot be used as in version %d of their schema: %s"
					.formatted(this.table, VERSION, message),
				("give the user of the node the rights to select, insert, update and delete in the tables %s, %s and %s, and to"
						+ " select in the table %s, on a server that is not read-only. If they have the rights, or a table"
						+ " is missing, compare the tables with the script %s" + IF_OLDER)
					.formatted(this.table, this.table + "_name", this.table + "_node", this.table + "_version",
							this.script),
				failure);
	}

}

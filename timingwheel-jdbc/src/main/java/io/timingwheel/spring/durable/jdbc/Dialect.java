package io.timingwheel.spring.durable.jdbc;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Locale;

import javax.sql.DataSource;

import io.timingwheel.spring.durable.store.UnusableTaskStoreException;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.jdbc.support.SQLErrorCodeSQLExceptionTranslator;
import org.springframework.jdbc.support.SQLExceptionTranslator;

/**
 * The differences between databases. A subclass for another database needs
 * {@link #clock()} and a script with the tables, and overrides the other methods where
 * the database differs. The database has to understand {@code for update}, {@code limit},
 * comparisons of rows, and {@code greatest}, as H2, MariaDB and MySQL do. Implementations
 * are thread-safe.
 *
 * @since 0.1
 */
public abstract class Dialect {

	private final SQLExceptionTranslator errors;

	private final String script;

	/**
	 * @param product the name of the database in Spring's list of error codes, such as
	 * {@code Oracle}
	 * @param script the location of the script that creates the tables, such as
	 * {@code classpath:schema-oracle.sql}
	 */
	protected Dialect(String product, String script) {
		this.errors = new SQLErrorCodeSQLExceptionTranslator(product);
		this.script = script;
	}

	static Dialect of(Connection connection) throws SQLException {
		DatabaseMetaData database = connection.getMetaData();
		String product = database.getDatabaseProductName();
		String version = database.getDatabaseProductVersion();
		// A driver may name MariaDB only in the version.
		if (String.valueOf(version).toLowerCase(Locale.ROOT).contains("mariadb")) {
			product = "MariaDB";
		}
		return switch (String.valueOf(product).toLowerCase(Locale.ROOT)) {
			case "h2" -> H2Dialect.of(connection);
			case "postgresql" -> PostgresDialect.of(connection);
			case "mariadb" -> MySqlDialect.of(connection, "MariaDB", 10, 6);
			case "mysql" -> MySqlDialect.of(connection, "MySQL", 8, 0);
			default -> throw new UnusableTaskStoreException(
					"durable tasks can be kept in H2, PostgreSQL, MariaDB and MySQL, but not in %s %s"
						.formatted(product, version),
					"declare a JdbcDelayedTaskStore bean with a DataSource for one of these, in which Schema.create has"
							+ " made the tables, or a Dialect bean for this database, or set timingwheel.store.type to redis or none");
		};
	}

	// The first version with "skip locked", and the first PostgreSQL that inlines "with".
	static void checkVersion(Connection connection, String product, int major, int minor) throws SQLException {
		DatabaseMetaData database = connection.getMetaData();
		int actual = database.getDatabaseMajorVersion();
		if (actual < major || (actual == major && database.getDatabaseMinorVersion() < minor)) {
			throw new UnusableTaskStoreException("durable tasks need %s %d.%d or newer, but this is %d.%d"
				.formatted(product, major, minor, actual, database.getDatabaseMinorVersion()), "update the database");
		}
	}

	static String query(Connection connection, String sql, Object... parameters) {
		JdbcTemplate jdbc = new JdbcTemplate(new SingleConnectionDataSource(connection, true));
		return String.valueOf(jdbc.queryForObject(sql, String.class, parameters));
	}

	/** The location of the script that creates the tables. */
	public final String script() {
		return this.script;
	}

	final JdbcTemplate template(DataSource dataSource) {
		JdbcTemplate template = new JdbcTemplate(dataSource);
		template.setExceptionTranslator(this.errors);
		return template;
	}

	/**
	 * The expression for the time, in milliseconds since the epoch. The time must go on
	 * within a transaction, and no second may come twice when the time zone changes.
	 */
	protected abstract String clock();

	/**
	 * The statement that locks the first rows in an order, and leaves out the rows that
	 * another transaction has locked.
	 * @param condition what follows {@code from}: the table, the condition and the order
	 */
	protected String lockFirst(String columns, String condition, int limit) {
		return "select " + columns + " from " + condition + " limit " + limit + " for update skip locked";
	}

	/**
	 * The last clause of an {@code insert} that does nothing if the key is taken; empty
	 * if the transaction can go on after a {@code DuplicateKeyException}.
	 */
	protected String unlessTaken() {
		return "";
	}

	/**
	 * The last clause of a {@code select} of the pending task with a key, which fails at
	 * once if another transaction is storing that task; empty if the database does not
	 * show such a task. An update then waits for the key, see {@link #limitLockWait}.
	 */
	protected String lockNoWait() {
		return "";
	}

	/**
	 * Lets the current transaction wait only briefly for another transaction that is
	 * storing a task with the same key.
	 */
	protected void limitLockWait(JdbcOperations jdbc) {
	}

	boolean isPostgres() {
		return false;
	}

	/**
	 * A name or key as the parameter of a statement. By default these are the bytes of
	 * UTF-8, since comparisons of text depend on the settings of a database.
	 */
	protected Object text(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

	/** A name or key from a column, {@code null} for none. */
	protected @Nullable String text(ResultSet rs, int column) throws SQLException {
		byte[] bytes = rs.getBytes(column);
		return (bytes != null) ? new String(bytes, StandardCharsets.UTF_8) : null;
	}

	/**
	 * The text of an error, as the database can keep it. A column has room for 2,000
	 * characters. A text that the database refuses would hold up the end of its task.
	 */
	protected @Nullable String error(@Nullable String error) {
		return error;
	}

}

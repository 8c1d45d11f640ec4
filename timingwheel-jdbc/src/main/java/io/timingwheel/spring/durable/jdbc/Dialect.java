package io.timingwheel.spring.durable.jdbc;

import java.nio.charset.StandardCharsets;
import java.sql.ResultSet;
import java.sql.SQLException;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.jdbc.core.JdbcTemplate;
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

	final boolean isPostgres() {
		return this instanceof Dialects.Postgres;
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

}

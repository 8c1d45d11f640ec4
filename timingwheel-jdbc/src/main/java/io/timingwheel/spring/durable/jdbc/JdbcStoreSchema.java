package io.timingwheel.spring.durable.jdbc;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

import javax.sql.DataSource;

import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.Resource;

/**
 * The table of durable tasks in one database. Immutable.
 *
 * @since 0.1
 */
public final class JdbcStoreSchema {

	private final TableName table;

	private final Platform platform;

	private JdbcStoreSchema(TableName table, Platform platform) {
		this.table = table;
		this.platform = platform;
	}

	/**
	 * Checks the name of a table.
	 * @param tableName the name, such as {@code timingwheel_task} or {@code schema.table}
	 * @throws IllegalArgumentException if this is no plain name of a table
	 */
	public static void checkTableName(String tableName) {
		new TableName(tableName);
	}

	/**
	 * Looks up which kind of database this is.
	 * @param dataSource leads to the database
	 * @param tableName the table, such as {@code timingwheel_task} or
	 * {@code schema.table}
	 * @return the schema for this kind of database
	 * @throws IllegalArgumentException if this is no plain name of a table
	 * @throws IllegalStateException if the database is of a kind that cannot keep tasks
	 * @throws org.springframework.dao.DataAccessException if there is no connection
	 */
	public static JdbcStoreSchema of(DataSource dataSource, String tableName) {
		TableName table = new TableName(tableName);
		return new JdbcStoreSchema(table, ConnectionSettings.read(dataSource).platform());
	}

	/**
	 * The kind of database, as the names of the scripts in this package have it:
	 * {@code schema-h2.sql} is the script for {@code h2}.
	 * @return {@code h2}, {@code postgresql}, {@code mariadb} or {@code mysql}
	 */
	public String platform() {
		return this.platform.name().toLowerCase(Locale.ROOT);
	}

	/**
	 * Makes a script that creates the default table create this table. The scripts of
	 * this package create the table only if the table is not there. Several nodes may run
	 * such a script at the same time. One of them may then fail and has to run it again.
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

}

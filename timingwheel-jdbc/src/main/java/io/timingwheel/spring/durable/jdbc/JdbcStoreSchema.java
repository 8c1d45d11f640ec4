package io.timingwheel.spring.durable.jdbc;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

import javax.sql.DataSource;

import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.DefaultResourceLoader;
import org.springframework.core.io.Resource;

/**
 * The table of durable tasks in one database. Immutable.
 *
 * @since 0.1
 */
public final class JdbcStoreSchema {

	private final TableName table;

	private final String location;

	private JdbcStoreSchema(TableName table, String location) {
		this.table = table;
		this.location = location;
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
		return new JdbcStoreSchema(table, ConnectionSettings.read(dataSource).platform().script());
	}

	/**
	 * The script of the default table.
	 * @return its location on the class path
	 */
	public String location() {
		return this.location;
	}

	/**
	 * The script that creates the table if the table is not there. Several nodes may run
	 * it at the same time; one of them may then fail and has to run it again.
	 * @return the script, with the name of the table
	 */
	public Resource script() {
		Resource script = new DefaultResourceLoader(getClass().getClassLoader()).getResource(this.location);
		try {
			String text = this.table.appliedTo(script.getContentAsString(StandardCharsets.UTF_8));
			return new ByteArrayResource(text.getBytes(StandardCharsets.UTF_8), script.getDescription());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}

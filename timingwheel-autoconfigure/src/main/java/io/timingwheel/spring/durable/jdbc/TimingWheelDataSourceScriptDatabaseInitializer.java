package io.timingwheel.spring.durable.jdbc;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

import javax.sql.DataSource;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.boot.jdbc.init.DataSourceScriptDatabaseInitializer;
import org.springframework.boot.sql.init.DatabaseInitializationMode;
import org.springframework.boot.sql.init.DatabaseInitializationSettings;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.Resource;
import org.springframework.jdbc.datasource.init.ScriptException;

/**
 * Creates the table of durable tasks if it is not there. Several nodes may do so at the
 * same time.
 */
public class TimingWheelDataSourceScriptDatabaseInitializer extends DataSourceScriptDatabaseInitializer {

	private static final Log logger = LogFactory.getLog(TimingWheelDataSourceScriptDatabaseInitializer.class);

	private static final int ATTEMPTS = 10;

	private final TableName table;

	/**
	 * Creates an initializer.
	 * @param dataSource leads to the database
	 * @param tableName the table, such as {@code timingwheel_task} or
	 * {@code schema.table}
	 * @param mode when to create the table
	 * @throws IllegalArgumentException if this is no plain name of a table
	 * @throws IllegalStateException if the database is of a kind that cannot keep tasks
	 */
	public TimingWheelDataSourceScriptDatabaseInitializer(DataSource dataSource, String tableName,
			DatabaseInitializationMode mode) {
		super(dataSource, settings(dataSource, mode));
		this.table = new TableName(tableName);
	}

	private static DatabaseInitializationSettings settings(DataSource dataSource, DatabaseInitializationMode mode) {
		DatabaseInitializationSettings settings = new DatabaseInitializationSettings();
		settings.setSchemaLocations(List.of(ConnectionSettings.read(dataSource).platform().script()));
		settings.setMode(mode);
		return settings;
	}

	/**
	 * That a table is not there does not keep another node from creating it first: the
	 * script is then run again.
	 */
	@Override
	protected void runScripts(Scripts scripts) {
		Scripts ours = forTable(scripts);
		for (int i = 1; i < ATTEMPTS; i++) {
			try {
				super.runScripts(ours);
				return;
			}
			catch (ScriptException ex) {
				logger.debug("Another node may be creating the table " + this.table, ex);
			}
		}
		super.runScripts(ours);
	}

	private Scripts forTable(Scripts scripts) {
		List<Resource> resources = new ArrayList<>();
		for (Resource script : scripts) {
			try {
				String text = this.table.appliedTo(script.getContentAsString(StandardCharsets.UTF_8));
				resources.add(new ByteArrayResource(text.getBytes(StandardCharsets.UTF_8), script.getDescription()));
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}
		return new Scripts(resources).continueOnError(scripts.isContinueOnError()).separator(scripts.getSeparator());
	}

}

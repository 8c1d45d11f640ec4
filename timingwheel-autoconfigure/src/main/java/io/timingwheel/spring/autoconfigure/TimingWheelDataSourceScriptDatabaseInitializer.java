package io.timingwheel.spring.autoconfigure;

import java.util.List;

import javax.sql.DataSource;

import io.timingwheel.spring.durable.jdbc.JdbcStoreSchema;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.boot.jdbc.init.DataSourceScriptDatabaseInitializer;
import org.springframework.boot.sql.init.DatabaseInitializationMode;
import org.springframework.boot.sql.init.DatabaseInitializationSettings;
import org.springframework.jdbc.datasource.init.ScriptException;

/**
 * Creates the table of durable tasks if the table is not there. Several nodes may do so
 * at the same time.
 *
 * @since 0.1
 */
public class TimingWheelDataSourceScriptDatabaseInitializer extends DataSourceScriptDatabaseInitializer {

	private static final Log logger = LogFactory.getLog(TimingWheelDataSourceScriptDatabaseInitializer.class);

	private static final int ATTEMPTS = 10;

	private final JdbcStoreSchema schema;

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
		this(dataSource, JdbcStoreSchema.of(dataSource, tableName), mode);
	}

	private TimingWheelDataSourceScriptDatabaseInitializer(DataSource dataSource, JdbcStoreSchema schema,
			DatabaseInitializationMode mode) {
		super(dataSource, settings(schema, mode));
		this.schema = schema;
	}

	private static DatabaseInitializationSettings settings(JdbcStoreSchema schema, DatabaseInitializationMode mode) {
		DatabaseInitializationSettings settings = new DatabaseInitializationSettings();
		settings.setSchemaLocations(List.of(schema.location()));
		settings.setMode(mode);
		return settings;
	}

	/**
	 * Another node may create the table after this node has seen that the table is not
	 * there. The script then fails, and runs once more.
	 */
	@Override
	protected void runScripts(Scripts scripts) {
		Scripts ours = new Scripts(List.of(this.schema.script())).continueOnError(scripts.isContinueOnError())
			.separator(scripts.getSeparator());
		for (int i = 1; i < ATTEMPTS; i++) {
			try {
				super.runScripts(ours);
				return;
			}
			catch (ScriptException ex) {
				logger.debug("Failed to create the table of durable tasks. Another node may be creating it.", ex);
			}
		}
		super.runScripts(ours);
	}

}

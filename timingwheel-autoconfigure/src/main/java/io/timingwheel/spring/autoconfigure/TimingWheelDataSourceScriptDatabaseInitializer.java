package io.timingwheel.spring.autoconfigure;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.StreamSupport;

import javax.sql.DataSource;

import io.timingwheel.spring.durable.jdbc.JdbcStoreSchema;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.boot.jdbc.init.DataSourceScriptDatabaseInitializer;
import org.springframework.boot.sql.init.DatabaseInitializationSettings;
import org.springframework.core.io.Resource;
import org.springframework.jdbc.datasource.init.ScriptException;
import org.springframework.util.StringUtils;

/**
 * Creates the table of durable tasks if the table does not exist. Several nodes may do
 * this at the same time.
 *
 * @since 0.1
 */
public class TimingWheelDataSourceScriptDatabaseInitializer extends DataSourceScriptDatabaseInitializer {

	private static final Log logger = LogFactory.getLog(TimingWheelDataSourceScriptDatabaseInitializer.class);

	private static final int ATTEMPTS = 10;

	private final JdbcStoreSchema schema;

	/**
	 * Creates an initializer.
	 * @param dataSource the data source of the database
	 * @param properties the name of the table, and when and how to create the table
	 * @throws IllegalArgumentException if the name of the table is not valid
	 * @throws IllegalStateException if the database is of a kind that cannot keep tasks
	 */
	public TimingWheelDataSourceScriptDatabaseInitializer(DataSource dataSource,
			TimingWheelJdbcStoreProperties properties) {
		this(dataSource, properties, JdbcStoreSchema.of(dataSource, properties.getTableName()));
	}

	private TimingWheelDataSourceScriptDatabaseInitializer(DataSource dataSource,
			TimingWheelJdbcStoreProperties properties, JdbcStoreSchema schema) {
		super(dataSource, settings(properties, schema));
		this.schema = schema;
	}

	private static DatabaseInitializationSettings settings(TimingWheelJdbcStoreProperties properties,
			JdbcStoreSchema schema) {
		String platform = properties.getPlatform();
		String location = properties.getSchema()
			.replace("@@platform@@", StringUtils.hasText(platform) ? platform : schema.platform());
		DatabaseInitializationSettings settings = new DatabaseInitializationSettings();
		settings.setSchemaLocations(List.of(location));
		settings.setMode(properties.getInitializeSchema());
		settings.setContinueOnError(properties.isContinueOnError());
		return settings;
	}

	/**
	 * Another node may create the table after this node has found no table. The script
	 * then fails, and runs again.
	 */
	@Override
	protected void runScripts(Scripts scripts) {
		List<Resource> resources = StreamSupport.stream(scripts.spliterator(), false)
			.map(this.schema::forTable)
			.toList();
		Scripts ours = new Scripts(resources).continueOnError(scripts.isContinueOnError())
			.separator(scripts.getSeparator())
			.encoding(StandardCharsets.UTF_8);
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

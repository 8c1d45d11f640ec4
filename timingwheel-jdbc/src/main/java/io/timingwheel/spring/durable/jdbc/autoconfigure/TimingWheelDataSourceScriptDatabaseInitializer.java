package io.timingwheel.spring.durable.jdbc.autoconfigure;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.StreamSupport;

import javax.sql.DataSource;

import io.timingwheel.spring.durable.UnusableTaskStoreException;
import io.timingwheel.spring.durable.autoconfigure.TaskStoreCheck;
import io.timingwheel.spring.durable.jdbc.JdbcStoreSchema;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.boot.jdbc.init.DataSourceScriptDatabaseInitializer;
import org.springframework.boot.sql.init.DatabaseInitializationSettings;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.core.io.Resource;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.datasource.init.ScriptException;
import org.springframework.util.StringUtils;

/**
 * Creates the table of durable tasks if the table does not exist, and brings the table of
 * an earlier release to the version of this one. Several nodes may do this at the same
 * time.
 *
 * @since 0.1
 */
public class TimingWheelDataSourceScriptDatabaseInitializer extends DataSourceScriptDatabaseInitializer {

	private static final Log logger = LogFactory.getLog(TimingWheelDataSourceScriptDatabaseInitializer.class);

	private static final int ATTEMPTS = 10;

	private final JdbcStoreSchema schema;

	private final boolean ownScripts;

	/** How many connections the data source can give at the same time. */
	private int maxConnections = Integer.MAX_VALUE;

	/**
	 * Creates an initializer.
	 * @param dataSource the data source of the database
	 * @param properties the name of the table, and when and how to create the table
	 * @throws IllegalArgumentException if the name of the table is not valid
	 * @throws UnusableTaskStoreException if the database is of a kind that cannot keep
	 * tasks, or does not answer
	 */
	public TimingWheelDataSourceScriptDatabaseInitializer(DataSource dataSource,
			TimingWheelJdbcStoreProperties properties) {
		this(dataSource, properties, schema(dataSource, properties));
	}

	private static JdbcStoreSchema schema(DataSource dataSource, TimingWheelJdbcStoreProperties properties) {
		try {
			return JdbcStoreSchema.of(dataSource, properties.getTableName());
		}
		catch (DataAccessException ex) {
			throw TaskStoreCheck.unusable(ex);
		}
	}

	private TimingWheelDataSourceScriptDatabaseInitializer(DataSource dataSource,
			TimingWheelJdbcStoreProperties properties, JdbcStoreSchema schema) {
		super(dataSource, settings(properties, schema));
		this.schema = schema;
		this.ownScripts = hasOwnScripts(properties);
	}

	/**
	 * Whether the scripts are those of the store, and not those of the application.
	 */
	private static boolean hasOwnScripts(TimingWheelJdbcStoreProperties properties) {
		return properties.getSchema().equals(properties.getDefaultSchemaLocation());
	}

	void setMaxConnections(int maxConnections) {
		this.maxConnections = maxConnections;
	}

	private static DatabaseInitializationSettings settings(TimingWheelJdbcStoreProperties properties,
			JdbcStoreSchema schema) {
		String platform = properties.getPlatform();
		String inName = StringUtils.hasText(platform) ? platform : schema.platform();
		DatabaseInitializationSettings settings = new DatabaseInitializationSettings();
		settings.setSchemaLocations(hasOwnScripts(properties) ? JdbcStoreSchema.scripts(inName, 0)
				: List.of(properties.getSchema().replace("@@platform@@", inName)));
		settings.setMode(properties.getInitializeSchema());
		settings.setContinueOnError(properties.isContinueOnError());
		return settings;
	}

	/**
	 * Runs the scripts of the versions that the database does not have yet. Another node
	 * may run the same script at the same time. The script then fails on one node, which
	 * looks for the version again.
	 */
	@Override
	protected void runScripts(Scripts scripts) {
		try {
			if (this.ownScripts) {
				checkConnections(this.schema.upgradeConnections());
				this.schema.upgrade(() -> runMissing(scripts));
			}
			else {
				runMissing(scripts);
			}
		}
		catch (DataAccessException ex) {
			throw new UnusableTaskStoreException(
					"the table of the durable tasks cannot be created or brought to version %d (%s)"
						.formatted(JdbcStoreSchema.VERSION, NestedExceptionUtils.getMostSpecificCause(ex).getMessage()),
					("give the user of the DataSource the rights to create and alter tables and indexes. Or let another user"
							+ " run these scripts, in this order: %s, and set timingwheel.store.jdbc.initialize-schema=never")
						.formatted(String.join(", ", JdbcStoreSchema.scripts(this.schema.platform(), 0))),
					ex);
		}
	}

	private void checkConnections(int needed) {
		if (this.maxConnections < needed) {
			throw new UnusableTaskStoreException(
					"the connection pool has %d connection, and the creation of the table needs %d at the same time"
						.formatted(this.maxConnections, needed),
					("set the maximum size of the pool to at least %d (with HikariCP: spring.datasource.hikari.maximum-pool-size)."
							+ " A node uses up to 5 connections at the same time, and each thread of the application"
							+ " that stores tasks uses another one")
						.formatted(needed));
		}
	}

	private void runMissing(Scripts scripts) {
		for (int i = 1; i < ATTEMPTS; i++) {
			try {
				super.runScripts(missing(scripts));
				return;
			}
			catch (ScriptException ex) {
				logger.debug("Failed to create the table of durable tasks. Another node may be creating it.", ex);
			}
		}
		super.runScripts(missing(scripts));
	}

	private Scripts missing(Scripts scripts) {
		List<Resource> resources = StreamSupport.stream(scripts.spliterator(), false)
			.skip(this.ownScripts ? this.schema.version() : 0)
			.map(this.schema::forTable)
			.toList();
		return new Scripts(resources).continueOnError(scripts.isContinueOnError())
			.separator(scripts.getSeparator())
			.encoding(StandardCharsets.UTF_8);
	}

}

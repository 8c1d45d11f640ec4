package io.timingwheel.spring.durable.jdbc.autoconfigure;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.StreamSupport;

import javax.sql.DataSource;

import io.timingwheel.spring.durable.jdbc.Dialect;
import io.timingwheel.spring.durable.jdbc.Schema;
import io.timingwheel.spring.durable.store.UnusableTaskStoreException;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.jdbc.DatabaseDriver;
import org.springframework.boot.jdbc.init.DataSourceScriptDatabaseInitializer;
import org.springframework.boot.jdbc.init.PlatformPlaceholderDatabaseDriverResolver;
import org.springframework.boot.sql.init.DatabaseInitializationSettings;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.core.io.Resource;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.datasource.init.ScriptException;
import org.springframework.util.StringUtils;

/**
 * Creates the tables of durable tasks if they do not exist. Several nodes may do this at
 * the same time.
 *
 * @since 0.1
 */
public class TimingWheelDataSourceScriptDatabaseInitializer extends DataSourceScriptDatabaseInitializer {

	private static final Log logger = LogFactory.getLog(TimingWheelDataSourceScriptDatabaseInitializer.class);

	private static final int ATTEMPTS = 10;

	private final Schema schema;

	private final boolean ownScript;

	/**
	 * Creates an initializer.
	 * @param dataSource the data source of the database
	 * @param properties the name of the table, and when and how to create the tables
	 * @param dialect the dialect of a database that this library does not know,
	 * {@code null} for the others
	 * @throws IllegalArgumentException if the name of the table is not valid
	 * @throws UnusableTaskStoreException if the database is of a kind that cannot keep
	 * tasks, or does not answer
	 */
	public TimingWheelDataSourceScriptDatabaseInitializer(DataSource dataSource,
			TimingWheelJdbcStoreProperties properties, @Nullable Dialect dialect) {
		this(dataSource, properties, schema(dataSource, properties, dialect));
	}

	private static Schema schema(DataSource dataSource, TimingWheelJdbcStoreProperties properties,
			@Nullable Dialect dialect) {
		try {
			return Schema.of(dataSource, dialect, properties.getTableName());
		}
		catch (DataAccessException ex) {
			throw UnusableTaskStoreException.of(ex);
		}
	}

	private TimingWheelDataSourceScriptDatabaseInitializer(DataSource dataSource,
			TimingWheelJdbcStoreProperties properties, Schema schema) {
		super(dataSource, settings(dataSource, properties, schema));
		this.schema = schema;
		this.ownScript = hasOwnScript(properties);
	}

	private static boolean hasOwnScript(TimingWheelJdbcStoreProperties properties) {
		return properties.getSchema().equals(properties.getDefaultSchemaLocation());
	}

	private static DatabaseInitializationSettings settings(DataSource dataSource,
			TimingWheelJdbcStoreProperties properties, Schema schema) {
		PlatformPlaceholderDatabaseDriverResolver platforms = new PlatformPlaceholderDatabaseDriverResolver()
			.withDriverPlatform(DatabaseDriver.MARIADB, "mysql");
		DatabaseInitializationSettings settings = new DatabaseInitializationSettings();
		settings.setSchemaLocations(StringUtils.hasText(properties.getPlatform())
				? platforms.resolveAll(properties.getPlatform(), properties.getSchema()) : hasOwnScript(properties)
						? List.of(schema.script()) : platforms.resolveAll(dataSource, properties.getSchema()));
		settings.setMode(properties.getInitializeSchema());
		settings.setContinueOnError(properties.isContinueOnError());
		return settings;
	}

	/**
	 * Runs the script if the tables do not exist. Another node may run the same script at
	 * the same time. The script then fails on one node, which looks for the tables again.
	 */
	@Override
	protected void runScripts(Scripts scripts) {
		for (int i = 1; true; i++) {
			try {
				if (!this.ownScript || this.schema.isMissing()) {
					super.runScripts(forTable(scripts));
				}
				return;
			}
			catch (DataAccessException ex) {
				if (i == ATTEMPTS || !(ex instanceof ScriptException)) {
					throw new UnusableTaskStoreException(
							"the tables of the durable tasks cannot be created (%s)"
								.formatted(NestedExceptionUtils.getMostSpecificCause(ex).getMessage()),
							("give the user of the DataSource the rights to create tables and indexes. Or let another user"
									+ " run the script %s, and set timingwheel.store.jdbc.initialize-schema=never")
								.formatted(this.schema.script()),
							ex);
				}
				logger.debug("Failed to create the tables of durable tasks. Another node may be creating them.", ex);
			}
		}
	}

	private Scripts forTable(Scripts scripts) {
		List<Resource> resources = StreamSupport.stream(scripts.spliterator(), false)
			.map(this.schema::forTable)
			.toList();
		return new Scripts(resources).continueOnError(scripts.isContinueOnError())
			.separator(scripts.getSeparator())
			.encoding(StandardCharsets.UTF_8);
	}

}

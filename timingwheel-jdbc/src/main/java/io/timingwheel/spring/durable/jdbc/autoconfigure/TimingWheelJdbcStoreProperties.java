package io.timingwheel.spring.durable.jdbc.autoconfigure;

import io.timingwheel.spring.autoconfigure.internal.PropertyChecks;
import io.timingwheel.spring.durable.jdbc.Schema;

import org.springframework.beans.factory.InitializingBean;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.sql.init.DatabaseInitializationMode;

/**
 * The {@code timingwheel.store.jdbc.*} properties.
 *
 * @since 0.1
 */
@ConfigurationProperties("timingwheel.store.jdbc")
public final class TimingWheelJdbcStoreProperties implements InitializingBean {

	/**
	 * Name of the table of the tasks, with or without a schema.
	 */
	private String tableName = "timingwheel_task";

	/**
	 * When to create the tables if they are missing.
	 */
	private DatabaseInitializationMode initializeSchema = DatabaseInitializationMode.EMBEDDED;

	public String getTableName() {
		return this.tableName;
	}

	public void setTableName(String tableName) {
		this.tableName = tableName;
	}

	public DatabaseInitializationMode getInitializeSchema() {
		return this.initializeSchema;
	}

	public void setInitializeSchema(DatabaseInitializationMode initializeSchema) {
		this.initializeSchema = initializeSchema;
	}

	/**
	 * Checks the name of the table.
	 * @throws InvalidConfigurationPropertyValueException if the name is not valid
	 */
	@Override
	public void afterPropertiesSet() {
		PropertyChecks.pass("timingwheel.store.jdbc.table-name", this.tableName, Schema::checkTableName);
	}

}

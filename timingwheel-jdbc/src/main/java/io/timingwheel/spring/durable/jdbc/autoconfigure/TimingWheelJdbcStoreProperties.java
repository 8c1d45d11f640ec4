package io.timingwheel.spring.durable.jdbc.autoconfigure;

import io.timingwheel.spring.autoconfigure.internal.PropertyChecks;
import io.timingwheel.spring.durable.jdbc.Schema;

import org.springframework.beans.factory.InitializingBean;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.jdbc.init.DatabaseInitializationProperties;

/**
 * The {@code timingwheel.store.jdbc.*} properties.
 *
 * @since 0.1
 */
@ConfigurationProperties("timingwheel.store.jdbc")
public final class TimingWheelJdbcStoreProperties extends DatabaseInitializationProperties implements InitializingBean {

	/**
	 * Name of the table of the tasks, with or without a schema.
	 */
	private String tableName = "timingwheel_task";

	public TimingWheelJdbcStoreProperties() {
		// The initializer must see that a script has failed because another node creates
		// the table.
		setContinueOnError(false);
	}

	public String getTableName() {
		return this.tableName;
	}

	public void setTableName(String tableName) {
		this.tableName = tableName;
	}

	/**
	 * Checks the name of the table.
	 * @throws InvalidConfigurationPropertyValueException if the name is not valid
	 */
	@Override
	public void afterPropertiesSet() {
		PropertyChecks.pass("timingwheel.store.jdbc.table-name", this.tableName, Schema::checkTableName);
	}

	@Override
	public String getDefaultSchemaLocation() {
		return "classpath:io/timingwheel/spring/durable/jdbc/schema-@@platform@@.sql";
	}

}

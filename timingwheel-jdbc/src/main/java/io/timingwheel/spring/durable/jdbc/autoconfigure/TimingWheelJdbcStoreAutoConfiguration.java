package io.timingwheel.spring.durable.jdbc.autoconfigure;

import javax.sql.DataSource;

import io.timingwheel.spring.autoconfigure.TimingWheelAutoConfiguration;
import io.timingwheel.spring.autoconfigure.internal.PropertyChecks;
import io.timingwheel.spring.autoconfigure.internal.StoreType;
import io.timingwheel.spring.durable.jdbc.Dialect;
import io.timingwheel.spring.durable.jdbc.JdbcDelayedTaskStore;
import io.timingwheel.spring.durable.jdbc.Schema;
import io.timingwheel.spring.durable.jdbc.TimingWheelDataSource;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.UnusableTaskStoreException;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.jdbc.EmbeddedDatabaseConnection;
import org.springframework.boot.sql.init.DatabaseInitializationMode;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.annotation.Bean;

/**
 * Auto-configuration of the store of durable tasks in a relational database.
 *
 * @since 0.1
 */
@AutoConfiguration(before = TimingWheelAutoConfiguration.class,
		afterName = "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration")
@ConditionalOnClass({ JdbcDelayedTaskStore.class, EmbeddedDatabaseConnection.class })
@ConditionalOnBooleanProperty(name = "timingwheel.enabled", matchIfMissing = true)
@ConditionalOnProperty(name = StoreType.PROPERTY, havingValue = "jdbc")
@ConditionalOnMissingBean(DelayedTaskStore.class)
@EnableConfigurationProperties(TimingWheelJdbcStoreAutoConfiguration.JdbcStoreProperties.class)
public final class TimingWheelJdbcStoreAutoConfiguration {

	@Bean
	@DependsOnDatabaseInitialization
	JdbcDelayedTaskStore timingWheelDelayedTaskStore(JdbcStoreProperties properties, ObjectProvider<Dialect> dialect,
			ObjectProvider<DataSource> dataSource, @TimingWheelDataSource ObjectProvider<DataSource> storeDataSource) {
		DataSource unique = dataSource.getIfUnique();
		if (unique == null) {
			throw dataSource.stream().findAny().isEmpty() ? new UnusableTaskStoreException(
					"there is no DataSource for the JDBC store",
					"set spring.datasource.url, or declare a DataSource bean, or set timingwheel.store.type=none")
					: new UnusableTaskStoreException("there is more than one DataSource for the JDBC store",
							"mark the DataSource of the application @Primary");
		}
		DataSource store = storeDataSource.getIfAvailable(() -> unique);
		String table = properties.tableName();
		PropertyChecks.pass("timingwheel.store.jdbc.table-name", table, Schema::checkTableName);
		if (switch (properties.initializeSchema()) {
			case ALWAYS -> true;
			case EMBEDDED -> EmbeddedDatabaseConnection.isEmbedded(store);
			case NEVER -> false;
		}) {
			Schema.create(store, dialect.getIfAvailable(), table);
		}
		return new JdbcDelayedTaskStore(unique, store, table, dialect.getIfAvailable());
	}

	/**
	 * The {@code timingwheel.store.jdbc.*} properties.
	 *
	 * @param tableName Name of the table of the tasks, with or without a schema.
	 * @param initializeSchema When to create the tables if they are missing.
	 */
	@ConfigurationProperties("timingwheel.store.jdbc")
	record JdbcStoreProperties(@DefaultValue("timingwheel_task") String tableName,
			@DefaultValue("embedded") DatabaseInitializationMode initializeSchema) {

	}

}

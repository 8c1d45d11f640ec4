package io.timingwheel.spring.autoconfigure;

import java.util.function.Function;

import javax.sql.DataSource;

import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.jdbc.JdbcDelayedTaskStore;
import io.timingwheel.spring.durable.jdbc.TimingWheelDataSource;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.jdbc.init.DataSourceScriptDatabaseInitializer;
import org.springframework.boot.sql.autoconfigure.init.OnDatabaseInitializationCondition;
import org.springframework.boot.sql.init.DatabaseInitializationMode;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;

/**
 * Auto-configuration of the store of durable tasks in a relational database.
 */
@AutoConfiguration(before = TimingWheelAutoConfiguration.class,
		afterName = "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration")
@ConditionalOnBooleanProperty(name = "timingwheel.enabled", matchIfMissing = true)
@ConditionalOnProperty(name = "timingwheel.store.type", havingValue = "jdbc")
@ConditionalOnMissingBean(DelayedTaskStore.class)
@EnableConfigurationProperties(TimingWheelProperties.class)
public final class TimingWheelJdbcStoreAutoConfiguration {

	private static final String TYPE = "timingwheel.store.type";

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass({ JdbcDelayedTaskStore.class, DataSourceScriptDatabaseInitializer.class })
	static class StoreConfiguration {

		@Bean
		@DependsOnDatabaseInitialization
		JdbcDelayedTaskStore timingWheelDelayedTaskStore(ObjectProvider<DataSource> dataSource,
				@TimingWheelDataSource ObjectProvider<DataSource> storeDataSource, TimingWheelProperties properties) {
			DataSource application = application(dataSource);
			return withTable(properties, (table) -> new JdbcDelayedTaskStore(application,
					storeDataSource.getIfAvailable(() -> application), table));
		}

		@Bean
		@ConditionalOnMissingBean
		@Conditional(OnSchemaInitialization.class)
		TimingWheelDataSourceScriptDatabaseInitializer timingWheelDataSourceScriptDatabaseInitializer(
				ObjectProvider<DataSource> dataSource,
				@TimingWheelDataSource ObjectProvider<DataSource> storeDataSource, TimingWheelProperties properties) {
			DataSource target = storeDataSource.getIfAvailable(() -> application(dataSource));
			DatabaseInitializationMode mode = DatabaseInitializationMode
				.valueOf(properties.getStore().getJdbc().getInitializeSchema().name());
			return withTable(properties,
					(table) -> new TimingWheelDataSourceScriptDatabaseInitializer(target, table, mode));
		}

		private static DataSource application(ObjectProvider<DataSource> dataSource) {
			DataSource application = dataSource.getIfUnique();
			if (application == null) {
				boolean none = dataSource.stream().findAny().isEmpty();
				throw new InvalidConfigurationPropertyValueException(TYPE, "jdbc",
						none ? "there is no DataSource: set spring.datasource.url, or declare a DataSource bean"
								: "there is more than one DataSource: mark that of the application @Primary");
			}
			return application;
		}

		private static <T> T withTable(TimingWheelProperties properties, Function<String, T> factory) {
			String table = properties.getStore().getJdbc().getTableName();
			try {
				return factory.apply(table);
			}
			catch (IllegalArgumentException ex) {
				throw new InvalidConfigurationPropertyValueException("timingwheel.store.jdbc.table-name", table,
						String.valueOf(ex.getMessage()));
			}
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnMissingClass("io.timingwheel.spring.durable.jdbc.JdbcDelayedTaskStore")
	static class MissingModuleConfiguration {

		@Bean
		DelayedTaskStore timingWheelDelayedTaskStore() {
			throw new InvalidConfigurationPropertyValueException(TYPE, "jdbc",
					"the store is not on the class path: add the dependency io.timingwheel:timingwheel-jdbc");
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(JdbcDelayedTaskStore.class)
	@ConditionalOnMissingClass("org.springframework.boot.jdbc.init.DataSourceScriptDatabaseInitializer")
	static class MissingLibraryConfiguration {

		@Bean
		DelayedTaskStore timingWheelDelayedTaskStore() {
			throw new InvalidConfigurationPropertyValueException(TYPE, "jdbc",
					"Spring JDBC is not on the classpath: add the dependency spring-boot-starter-jdbc");
		}

	}

	static class OnSchemaInitialization extends OnDatabaseInitializationCondition {

		OnSchemaInitialization() {
			super("TimingWheel", "timingwheel.store.jdbc.initialize-schema");
		}

	}

}

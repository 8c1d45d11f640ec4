package io.timingwheel.spring.durable.jdbc.autoconfigure;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariConfigMXBean;
import com.zaxxer.hikari.HikariDataSource;
import io.timingwheel.spring.autoconfigure.TimingWheelAutoConfiguration;
import io.timingwheel.spring.autoconfigure.internal.StoreType;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import io.timingwheel.spring.durable.autoconfigure.TimingWheelStoreProperties;
import io.timingwheel.spring.durable.jdbc.Dialect;
import io.timingwheel.spring.durable.jdbc.JdbcDelayedTaskStore;
import io.timingwheel.spring.durable.jdbc.TimingWheelDataSource;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.jdbc.DataSourceUnwrapper;
import org.springframework.boot.jdbc.init.DataSourceScriptDatabaseInitializer;
import org.springframework.boot.sql.autoconfigure.init.OnDatabaseInitializationCondition;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;

/**
 * Auto-configuration of the store of durable tasks in a relational database.
 *
 * @since 0.1
 */
@AutoConfiguration(before = TimingWheelAutoConfiguration.class,
		afterName = "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration")
@ConditionalOnClass({ JdbcDelayedTaskStore.class, DataSourceScriptDatabaseInitializer.class })
@ConditionalOnBooleanProperty(name = "timingwheel.enabled", matchIfMissing = true)
@ConditionalOnProperty(name = StoreType.PROPERTY, havingValue = "jdbc")
@ConditionalOnMissingBean(DelayedTaskStore.class)
@EnableConfigurationProperties(TimingWheelJdbcStoreProperties.class)
public final class TimingWheelJdbcStoreAutoConfiguration {

	private static final Log logger = LogFactory.getLog(TimingWheelJdbcStoreAutoConfiguration.class);

	@Bean
	JdbcStoreDataSources timingWheelStoreDataSources(ObjectProvider<DataSource> dataSource,
			@TimingWheelDataSource ObjectProvider<DataSource> storeDataSource) {
		return JdbcStoreDataSources.of(dataSource, storeDataSource);
	}

	@Bean
	@DependsOnDatabaseInitialization
	JdbcDelayedTaskStore timingWheelDelayedTaskStore(JdbcStoreDataSources dataSources,
			TimingWheelJdbcStoreProperties properties, ObjectProvider<Dialect> dialect) {
		return new JdbcDelayedTaskStore(dataSources.application(), dataSources.store(), properties.getTableName(),
				dialect.getIfAvailable());
	}

	@Bean
	@ConditionalOnMissingBean
	@Conditional(OnSchemaInitialization.class)
	TimingWheelDataSourceScriptDatabaseInitializer timingWheelDataSourceScriptDatabaseInitializer(
			JdbcStoreDataSources dataSources, TimingWheelJdbcStoreProperties properties,
			ObjectProvider<Dialect> dialect) {
		return new TimingWheelDataSourceScriptDatabaseInitializer(dataSources.store(), properties,
				dialect.getIfAvailable());
	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(HikariDataSource.class)
	@EnableConfigurationProperties(TimingWheelStoreProperties.class)
	static class HikariConfiguration {

		/**
		 * Warns if a thread of the node may wait for a connection for longer than a
		 * lease. The wait itself loses no lease, since a thread that gave up earlier
		 * would queue again. But only its end tells the node that there are no
		 * connections.
		 */
		@Bean
		SmartInitializingSingleton timingWheelConnectionWaitCheck(JdbcStoreDataSources dataSources,
				TimingWheelStoreProperties properties) {
			return () -> {
				HikariConfigMXBean pool = DataSourceUnwrapper.unwrap(dataSources.store(), HikariConfigMXBean.class,
						HikariDataSource.class);
				long lease = properties.lease().toMillis();
				if (pool != null && pool.getConnectionTimeout() > lease) {
					logger.warn(("A node may wait %d ms for a connection of the pool %s, and a lease of a durable task"
							+ " lasts %d ms (timingwheel.store.lease). If there is no connection, the log and the health"
							+ " say so only when the leases have ended. Set the connection timeout of the pool"
							+ " (spring.datasource.hikari.connection-timeout) to at most %3$d ms.")
						.formatted(pool.getConnectionTimeout(), pool.getPoolName(), lease));
				}
			};
		}

	}

	static class OnSchemaInitialization extends OnDatabaseInitializationCondition {

		OnSchemaInitialization() {
			super("TimingWheel", "timingwheel.store.jdbc.initialize-schema");
		}

	}

}

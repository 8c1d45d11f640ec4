package io.timingwheel.spring.durable.jdbc;

import com.zaxxer.hikari.HikariDataSource;
import io.timingwheel.spring.autoconfigure.TimingWheelAutoConfiguration;
import io.timingwheel.spring.durable.autoconfigure.TimingWheelStoreAutoConfiguration;
import io.timingwheel.spring.durable.jdbc.autoconfigure.TimingWheelJdbcStoreAutoConfiguration;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;

/** Applications with durable tasks in a database, as users start them. */
final class DurableApplication {

	private DurableApplication() {
	}

	static ApplicationContextRunner on(String url) {
		return new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(TimingWheelAutoConfiguration.class,
					TimingWheelStoreAutoConfiguration.class, TimingWheelJdbcStoreAutoConfiguration.class,
					JacksonAutoConfiguration.class, TaskExecutionAutoConfiguration.class,
					DataSourceAutoConfiguration.class, DataSourceTransactionManagerAutoConfiguration.class,
					JdbcTemplateAutoConfiguration.class, TransactionAutoConfiguration.class))
			.withPropertyValues("timingwheel.store.type=jdbc", "timingwheel.store.jdbc.initialize-schema=always",
					"spring.datasource.url=" + url, "spring.datasource.type=" + HikariDataSource.class.getName(),
					// A connection to PostgreSQL is a process.
					"spring.datasource.hikari.minimum-idle=1");
	}

}

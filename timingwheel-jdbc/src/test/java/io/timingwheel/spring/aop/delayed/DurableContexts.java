package io.timingwheel.spring.aop.delayed;

import java.util.UUID;

import io.timingwheel.spring.durable.autoconfigure.TimingWheelStoreAutoConfiguration;
import io.timingwheel.spring.durable.call.MemoryStore;
import io.timingwheel.spring.durable.jdbc.autoconfigure.TimingWheelJdbcStoreAutoConfiguration;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;

/** Application contexts with a store, in real time. */
final class DurableContexts {

	private DurableContexts() {
	}

	static ApplicationContextRunner runner(Class<?>... configurations) {
		return runner(new MemoryStore(), configurations);
	}

	static ApplicationContextRunner runner(MemoryStore store, Class<?>... configurations) {
		return fast(configurations).withBean(MemoryStore.class, () -> store);
	}

	/** With a database in memory, which lasts until the JVM ends. */
	static ApplicationContextRunner jdbc(Class<?>... configurations) {
		return fast(configurations)
			.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class,
					TimingWheelJdbcStoreAutoConfiguration.class))
			.withPropertyValues("timingwheel.store.type=jdbc",
					"spring.datasource.url=jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
	}

	/**
	 * With a transaction manager for the database. Beside a {@link MemoryStore} this is a
	 * database without tasks.
	 */
	static ApplicationContextRunner withTransactions(ApplicationContextRunner runner) {
		return runner.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class,
				DataSourceTransactionManagerAutoConfiguration.class, TransactionAutoConfiguration.class));
	}

	private static ApplicationContextRunner fast(Class<?>... configurations) {
		return DelayedContexts.realTimeRunner(configurations)
			.withConfiguration(
					AutoConfigurations.of(JacksonAutoConfiguration.class, TimingWheelStoreAutoConfiguration.class))
			.withPropertyValues("timingwheel.store.poll-interval=20ms", "timingwheel.store.backoff.initial=10ms",
					"timingwheel.store.max-attempts=3");
	}

}

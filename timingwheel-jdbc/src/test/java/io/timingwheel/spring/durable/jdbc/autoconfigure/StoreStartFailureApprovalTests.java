package io.timingwheel.spring.durable.jdbc.autoconfigure;

import java.util.List;

import javax.sql.DataSource;

import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.autoconfigure.StartFailureLines;
import io.timingwheel.spring.autoconfigure.TimingWheelAutoConfiguration;
import io.timingwheel.spring.durable.autoconfigure.TimingWheelStoreAutoConfiguration;
import io.timingwheel.spring.durable.call.MemoryStore;
import io.timingwheel.spring.durable.redis.autoconfigure.TimingWheelRedisStoreAutoConfiguration;
import io.timingwheel.support.Approved;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.jdbc.datasource.SimpleDriverDataSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that nobody changes what a user reads when an application with durable tasks does
 * not start without saying so.
 */
class StoreStartFailureApprovalTests {

	private final ApplicationContextRunner memory = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(TaskExecutionAutoConfiguration.class, JacksonAutoConfiguration.class,
				TimingWheelAutoConfiguration.class, TimingWheelStoreAutoConfiguration.class));

	private final ApplicationContextRunner store = this.memory.withBean(MemoryStore.class);

	private final ApplicationContextRunner jdbc = this.memory
		.withConfiguration(AutoConfigurations.of(TimingWheelJdbcStoreAutoConfiguration.class))
		.withPropertyValues("timingwheel.store.type=jdbc");

	private final ApplicationContextRunner h2 = this.jdbc
		.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class,
				DataSourceTransactionManagerAutoConfiguration.class))
		.withPropertyValues("spring.datasource.url=jdbc:h2:mem:start-failures");

	private final ApplicationContextRunner redis = this.memory
		.withConfiguration(AutoConfigurations.of(TimingWheelRedisStoreAutoConfiguration.class))
		.withPropertyValues("timingwheel.store.type=redis");

	private final StartFailureLines failures = new StartFailureLines();

	@Test
	void theTextsAboutPropertiesAreTheApprovedOnes() {
		for (String property : List.of("timingwheel.tasks.durable.rate=often",
				"timingwheel.tasks.durable.max-concurrent=-1", "timingwheel.tasks.durable.max-concurrent-per-key=1",
				"timingwheel.tasks.durable.backoff.initial=-1s", "timingwheel.tasks.durable.colour=red",
				"timingwheel.tasks.orders.close.rate=10/s", "timingwheel.store.lease=999ms",
				"timingwheel.store.poll-interval=0", "timingwheel.store.look-ahead=-1s",
				"timingwheel.store.batch-size=0", "timingwheel.store.max-in-flight=0",
				"timingwheel.store.max-attempts=0", "timingwheel.store.max-lost-deliveries=0",
				"timingwheel.store.max-payload-size=0", "timingwheel.store.node-id=a b",
				"timingwheel.store.backoff.initial=-1s", "timingwheel.store.backoff.multiplier=0.9",
				"timingwheel.store.backoff.max=10ms", "timingwheel.store.backoff.jitter=1.1",
				"timingwheel.store.dead.retention=0s")) {
			this.failures.fail(property, this.store.withPropertyValues(property), Durable.class);
		}
		this.failures.fail("timingwheel.store.jdbc.table-name=a-b",
				this.h2.withPropertyValues("timingwheel.store.jdbc.table-name=a-b"));
		for (String property : List.of("namespace={}", "partitions=0", "partitions=1025", "wait-replicas=-1",
				"wait-timeout=0", "max-dead=-1")) {
			String name = "timingwheel.store.redis." + property;
			this.failures.fail(name,
					this.redis.withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class))
						.withPropertyValues(name));
		}
		Approved.verify(getClass(), "start-failures-properties", this.failures.lines());
	}

	@Test
	void theTextsAboutStoresAreTheApprovedOnes() {
		this.failures.fail("no DataSource", this.jdbc);
		this.failures.fail("more than one DataSource",
				this.jdbc.withBean("one", DataSource.class, SimpleDriverDataSource::new)
					.withBean("two", DataSource.class, SimpleDriverDataSource::new));
		this.failures.fail("no table", this.h2.withPropertyValues("timingwheel.store.jdbc.initialize-schema=never"));
		this.failures.fail("a table without its columns", this.h2.withPropertyValues(
				"spring.datasource.url=jdbc:h2:mem:other-columns;INIT=create table if not exists timingwheel_task (id int)\\;"
						+ "create table if not exists timingwheel_task_version (version int)\\;"
						+ "insert into timingwheel_task_version values (99)",
				"timingwheel.store.jdbc.initialize-schema=never"));
		this.failures.fail("a database that does not answer",
				this.h2.withPropertyValues("spring.datasource.url=jdbc:h2:mem:absent;IFEXISTS=TRUE"));
		this.failures.fail("no Spring JDBC", this.jdbc
			.withClassLoader(new FilteredClassLoader("org.springframework.jdbc", "org.springframework.boot.jdbc")));
		this.failures.fail("no RedisConnectionFactory", this.redis);
		ApplicationContextRunner redis = this.redis
			.withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class));
		this.failures.fail("more than one RedisConnectionFactory",
				redis.withBean("one", LettuceConnectionFactory.class, LettuceConnectionFactory::new)
					.withBean("two", LettuceConnectionFactory.class, LettuceConnectionFactory::new));
		this.failures.fail("Jedis", redis.withPropertyValues("spring.data.redis.client-type=jedis"));
		this.failures.fail("no Lettuce", redis.withClassLoader(new FilteredClassLoader("io.lettuce")));
		this.failures.fail("no Spring Data Redis", this.redis.withClassLoader(
				new FilteredClassLoader("org.springframework.data.redis", "org.springframework.boot.data.redis")));
		this.failures.fail("a Redis that does not answer", redis.withPropertyValues("spring.data.redis.port=1"));
		Approved.verify(getClass(), "start-failures-stores", this.failures.lines());
	}

	/** The message has a statement, which may change. */
	@Test
	void aModeOfH2ThatChangesTheSqlStopsTheStart() {
		this.h2.withPropertyValues("spring.datasource.url=jdbc:h2:mem:strict;MODE=STRICT")
			.run((context) -> assertThat(context).getFailure()
				.hasStackTraceContaining("cannot be used as in version 1 of their schema: Syntax error"));
	}

	static class Durable {

		@Delayed(delay = "1h", name = "durable", durable = true)
		void remind(long userId) {
		}

	}

}

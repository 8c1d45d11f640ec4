package io.timingwheel.spring.autoconfigure;

import java.lang.reflect.Modifier;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.durable.support.MemoryStore;
import io.timingwheel.support.Approved;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.core.env.Environment;
import org.springframework.core.io.support.SpringFactoriesLoader;
import org.springframework.core.io.support.SpringFactoriesLoader.ArgumentResolver;
import org.springframework.core.io.support.SpringFactoriesLoader.FailureHandler;
import org.springframework.util.ClassUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that nobody changes what a user reads when the application does not start without
 * saying so.
 */
class StartFailureApprovalTests {

	private static final String METHODS = "io.timingwheel.spring.aop.delayed.";

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

	private final List<String> lines = new ArrayList<>();

	/**
	 * The methods are those that the other tests of start failures have.
	 */
	@Test
	void theTextsAboutMethodsAreTheApprovedOnes() {
		tryAll(this.memory, METHODS + "DelayedStartupFailureTests");
		tryAll(this.memory, METHODS + "RecurringStartupFailureTests");
		tryAll(this.memory, TimeoutStartupFailureTests.class.getName());
		tryAll(this.store, METHODS + "DurableStartupTests");
		fail("a durable method without a store", this.memory, Durable.class);
		fail("a transactional method with a store that has no transactions", this.store, Transactional.class);
		fail("two durable methods of one name", this.store, Durable.class, SameName.class);
		Approved.verify(getClass(), "start-failures-methods", this.lines);
	}

	@Test
	void theTextsAboutPropertiesAreTheApprovedOnes() {
		for (String property : List.of("timingwheel.tick=0", "timingwheel.tick=25h", "timingwheel.wheel-size=48",
				"timingwheel.shards=3", "timingwheel.max-pending=0", "timingwheel.shutdown.pending=banana",
				"timingwheel.shutdown.await-termination-period=-1s", "timingwheel.health.max-lag=0",
				"timingwheel.metrics.max-names=0", "timingwheel.timeout.limits.quotes.quote=0",
				"timingwheel.timeout.limits.quotes.quote=soon", "timingwheel.tasks.durable.rate=often",
				"timingwheel.tasks.durable.max-concurrent=-1", "timingwheel.tasks.durable.max-concurrent-per-key=1",
				"timingwheel.tasks.durable.backoff.initial=-1s", "timingwheel.tasks.durable.colour=red",
				"timingwheel.store.lease=999ms", "timingwheel.store.poll-interval=0",
				"timingwheel.store.look-ahead=-1s", "timingwheel.store.batch-size=0",
				"timingwheel.store.max-in-flight=0", "timingwheel.store.max-attempts=0",
				"timingwheel.store.max-lost-deliveries=0", "timingwheel.store.max-payload-size=0",
				"timingwheel.store.node-id=a b", "timingwheel.store.backoff.initial=-1s",
				"timingwheel.store.backoff.multiplier=0.9", "timingwheel.store.backoff.max=10ms",
				"timingwheel.store.backoff.jitter=1.1", "timingwheel.store.dead.retention=0s")) {
			fail(property, this.store.withPropertyValues(property), Durable.class);
		}
		fail("timingwheel.store.type=banana", this.jdbc.withPropertyValues("timingwheel.store.type=banana"));
		fail("timingwheel.store.jdbc.table-name=a-b",
				this.h2.withPropertyValues("timingwheel.store.jdbc.table-name=a-b"));
		for (String property : List.of("namespace={}", "partitions=0", "wait-replicas=-1", "wait-timeout=0",
				"max-dead=-1")) {
			String name = "timingwheel.store.redis." + property;
			fail(name, this.redis.withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class))
				.withPropertyValues(name));
		}
		Approved.verify(getClass(), "start-failures-properties", this.lines);
	}

	@Test
	void theTextsAboutStoresAreTheApprovedOnes(@TempDir Path folder) {
		fail("no DataSource", this.jdbc);
		fail("no JDBC store", this.jdbc.withClassLoader(new FilteredClassLoader("io.timingwheel.spring.durable.jdbc")));
		fail("a pool of one connection",
				this.h2.withPropertyValues("spring.datasource.url=jdbc:h2:file:" + folder.resolve("tasks"),
						"timingwheel.store.jdbc.initialize-schema=always",
						"spring.datasource.type=com.zaxxer.hikari.HikariDataSource",
						"spring.datasource.hikari.maximum-pool-size=1"));
		fail("no table", this.h2.withPropertyValues("timingwheel.store.jdbc.initialize-schema=never"));
		fail("a table of an earlier release",
				h2WithInit("schema-h2.sql").withPropertyValues("timingwheel.store.jdbc.initialize-schema=never"));
		fail("a table without its columns", this.h2.withPropertyValues(
				"spring.datasource.url=jdbc:h2:mem:other-columns;INIT=create table if not exists timingwheel_task (id int)\\;"
						+ "create table if not exists timingwheel_task_version (version int)\\;"
						+ "insert into timingwheel_task_version values (99)",
				"timingwheel.store.jdbc.initialize-schema=never"));
		fail("a mode of H2 that changes the SQL",
				this.h2.withPropertyValues("spring.datasource.url=jdbc:h2:mem:strict;MODE=STRICT"));
		fail("a database that does not answer",
				this.h2.withPropertyValues("spring.datasource.url=jdbc:h2:mem:absent;IFEXISTS=TRUE"));
		fail("no RedisConnectionFactory", this.redis);
		ApplicationContextRunner redis = this.redis
			.withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class));
		fail("Jedis", redis.withPropertyValues("spring.data.redis.client-type=jedis"));
		fail("no Lettuce", redis.withClassLoader(new FilteredClassLoader("io.lettuce")));
		fail("no Redis store",
				this.redis.withClassLoader(new FilteredClassLoader("io.timingwheel.spring.durable.redis")));
		fail("a Redis that does not answer", redis.withPropertyValues("spring.data.redis.port=1"));
		Approved.verify(getClass(), "start-failures-stores", this.lines);
	}

	private ApplicationContextRunner h2WithInit(String script) {
		return this.h2.withPropertyValues("spring.datasource.url=jdbc:h2:mem:start-failures-init"
				+ ";INIT=RUNSCRIPT FROM 'classpath:io/timingwheel/spring/durable/jdbc/%s'".formatted(script));
	}

	/**
	 * Starts an application with each class that is nested in a test. Some can start.
	 * Records are values of these classes.
	 */
	private void tryAll(ApplicationContextRunner runner, String test) {
		Class<?> type = ClassUtils.resolveClassName(test, null);
		Stream.of(type.getDeclaredClasses())
			.filter((nested) -> !Modifier.isAbstract(nested.getModifiers()) && !nested.isRecord())
			.sorted(Comparator.comparing(Class::getName))
			.forEach((nested) -> start(type.getSimpleName() + ", " + nested.getSimpleName(), runner, nested));
	}

	private void fail(String title, ApplicationContextRunner runner, Class<?>... beans) {
		assertThat(start(title, runner, beans)).as(title).isTrue();
	}

	/**
	 * Starts an application, and adds the texts of its failure to the lines.
	 * @return whether it has failed
	 */
	private boolean start(String title, ApplicationContextRunner runner, Class<?>... beans) {
		List<String> failure = new ArrayList<>();
		ConfigurableApplicationContext[] started = new ConfigurableApplicationContext[1];
		for (Class<?> bean : beans) {
			runner = runner.withUserConfiguration(bean);
		}
		runner.withInitializer((context) -> started[0] = context).run((context) -> {
			Throwable cause = context.getStartupFailure();
			if (cause != null) {
				FailureAnalysis analysis = analyze(started[0], cause);
				failure.add(title);
				add(failure, "", (analysis != null) ? analysis.getDescription()
						: "not analyzed: " + NestedExceptionUtils.getMostSpecificCause(cause));
				add(failure, "-> ", (analysis != null) ? String.valueOf(analysis.getAction()) : "none");
			}
		});
		this.lines.addAll(failure);
		return !failure.isEmpty();
	}

	private static void add(List<String> lines, String mark, String text) {
		text.lines().filter((line) -> !line.isBlank()).forEach((line) -> lines.add("\t" + mark + line.strip()));
	}

	/**
	 * Asks all analyzers that are registered, as Spring Boot does.
	 */
	private static @Nullable FailureAnalysis analyze(ConfigurableApplicationContext context, Throwable cause) {
		ArgumentResolver arguments = ArgumentResolver.of(BeanFactory.class, context.getBeanFactory())
			.and(Environment.class, context.getEnvironment());
		FailureHandler ignore = (type, name, failure) -> {
		};
		return SpringFactoriesLoader.forDefaultResourceLocation()
			.load(FailureAnalyzer.class, arguments, ignore)
			.stream()
			.map((analyzer) -> analyzer.analyze(cause))
			.filter(Objects::nonNull)
			.findFirst()
			.orElse(null);
	}

	static class Durable {

		@Delayed(delay = "1h", name = "durable", durable = true)
		void remind(long userId) {
		}

	}

	static class SameName {

		@Delayed(delay = "1h", name = "durable", durable = true)
		void remind(String user) {
		}

	}

	static class Transactional {

		@Delayed(delay = "1h", name = "transactional", durable = true, transactional = true)
		void remind(long userId) {
		}

	}

}

package io.timingwheel.spring.durable.jdbc.autoconfigure;

import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import javax.sql.DataSource;

import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.TaskPolicy;
import io.timingwheel.spring.autoconfigure.StartFailures;
import io.timingwheel.spring.autoconfigure.TimingWheelAutoConfiguration;
import io.timingwheel.spring.durable.autoconfigure.TimingWheelStoreAutoConfiguration;
import io.timingwheel.spring.durable.call.MemoryStore;
import io.timingwheel.spring.durable.jdbc.JdbcDelayedTaskStore;
import io.timingwheel.spring.durable.jdbc.TimingWheelDataSource;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.jdbc.DataSourceBuilder;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.init.DataSourceScriptDatabaseInitializer;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

class JdbcStoreTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(
				AutoConfigurations.of(TimingWheelJdbcStoreAutoConfiguration.class, DataSourceAutoConfiguration.class))
		.withPropertyValues("timingwheel.store.type=jdbc", "spring.datasource.url=jdbc:h2:mem:" + UUID.randomUUID());

	private final ApplicationContextRunner poolOfOne = this.runner.withPropertyValues(
			"spring.datasource.type=com.zaxxer.hikari.HikariDataSource",
			"spring.datasource.hikari.maximum-pool-size=1");

	private final ApplicationContextRunner withTimingWheel = this.runner.withConfiguration(
			AutoConfigurations.of(TimingWheelAutoConfiguration.class, TimingWheelStoreAutoConfiguration.class));

	@Test
	void isReadyOnAnEmbeddedDatabase() {
		this.runner.run((context) -> {
			DelayedTaskStore store = context.getBean(DelayedTaskStore.class);
			store.check(List.of());
			assertThat(store.counts(List.of())).isEmpty();
		});
	}

	@Test
	void isThereOnlyIfTheTypeNamesIt() {
		this.runner.withPropertyValues("timingwheel.store.type=JDBC")
			.run((context) -> assertThat(context).hasSingleBean(DelayedTaskStore.class));
		this.runner.withPropertyValues("timingwheel.store.type=none")
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(DelayedTaskStore.class));
		this.runner.withPropertyValues("timingwheel.enabled=false")
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(DelayedTaskStore.class));
	}

	@Test
	void backsOffFromAStoreOfTheApplication() {
		this.runner.withUserConfiguration(OwnStore.class)
			.run((context) -> assertThat(context).hasSingleBean(DelayedTaskStore.class).hasBean("mine"));
	}

	@Test
	void createsATableOfAnotherName() {
		this.runner.withPropertyValues("timingwheel.store.jdbc.table-name=public.later").run((context) -> {
			context.getBean(DelayedTaskStore.class).check(List.of());
			JdbcTemplate jdbc = new JdbcTemplate(context.getBean(DataSource.class));
			assertThat(jdbc.queryForObject("select count(*) from later", Long.class)).isZero();
			assertThat(jdbc.queryForList("select index_name from information_schema.indexes where table_name = 'LATER'",
					String.class))
				.contains("LATER_HELD", "LATER_CLAIM", "LATER_LISTING", "LATER_DEAD");
			assertThat(jdbc.queryForList("select version from later_version", Integer.class)).contains(1);
		});
	}

	@Test
	void createsNoTableIfInitializationIsOffAndTheCheckNamesTheScript() {
		this.runner.withPropertyValues("timingwheel.store.jdbc.initialize-schema=never").run((context) -> {
			assertThat(context).doesNotHaveBean(DataSourceScriptDatabaseInitializer.class);
			assertThatIllegalStateException().isThrownBy(() -> context.getBean(DelayedTaskStore.class).check(List.of()))
				.withMessageContaining("io/timingwheel/spring/durable/jdbc/schema-h2.sql")
				.withMessageContaining("timingwheel.store.jdbc.initialize-schema=always");
		});
	}

	@Test
	void createsAndFindsTheTableWithOneConnection(@TempDir Path folder) {
		h2InAFile(this.poolOfOne, folder).run((context) -> context.getBean(DelayedTaskStore.class).check(List.of()));
		h2InAFile(this.poolOfOne, folder).withPropertyValues("timingwheel.store.jdbc.initialize-schema=never")
			.run((context) -> context.getBean(DelayedTaskStore.class).check(List.of()));
	}

	/**
	 * With a database that another process may open.
	 */
	private static ApplicationContextRunner h2InAFile(ApplicationContextRunner runner, Path folder) {
		return runner.withPropertyValues("timingwheel.store.jdbc.initialize-schema=always",
				"spring.datasource.url=jdbc:h2:file:" + folder.resolve("tasks") + ";WRITE_DELAY=0");
	}

	@ParameterizedTest
	@ValueSource(strings = { "DATABASE_TO_UPPER=FALSE", "DATABASE_TO_LOWER=TRUE",
			"DATABASE_TO_UPPER=FALSE;CASE_INSENSITIVE_IDENTIFIERS=TRUE", "MODE=MySQL", "MODE=LEGACY",
			"MODE=PostgreSQL;DATABASE_TO_LOWER=TRUE;DEFAULT_NULL_ORDERING=HIGH" })
	void tasksRunWithSettingsOfH2ThatChangeNames(String settings) {
		this.withTimingWheel
			.withPropertyValues("spring.datasource.url=jdbc:h2:mem:" + UUID.randomUUID() + ";" + settings)
			.withBean(Bodies.class)
			.run(JdbcStoreTests::assertRuns);
	}

	@Test
	void createsTheTableWithConnectionsThatDoNotCommit() {
		this.withTimingWheel
			.withPropertyValues("spring.datasource.type=com.zaxxer.hikari.HikariDataSource",
					"spring.datasource.hikari.auto-commit=false")
			.withBean(Bodies.class)
			.run(JdbcStoreTests::assertRuns);
	}

	private static void assertRuns(AssertableApplicationContext context) throws Exception {
		assertThat(context).hasNotFailed();
		Bodies bodies = context.getBean(Bodies.class);
		bodies.run(5);
		assertThat(bodies.awaitRun()).isTrue();
	}

	@Test
	void createsTheTableThroughTheDataSourceOfTheStore() {
		this.runner.withUserConfiguration(TwoDataSources.class).run((context) -> {
			DataSource store = context.getBean("storeDataSource", DataSource.class);
			assertThat(new JdbcTemplate(store).queryForObject("select count(*) from timingwheel_task", Long.class))
				.isZero();
			context.getBean(DelayedTaskStore.class).check(List.of());
		});
	}

	@Test
	void failsWithoutSpringJdbc() {
		new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(TimingWheelJdbcStoreAutoConfiguration.class,
					TimingWheelAutoConfiguration.class, TimingWheelStoreAutoConfiguration.class))
			.withPropertyValues("timingwheel.store.type=jdbc")
			.withClassLoader(new FilteredClassLoader("org.springframework.jdbc", "org.springframework.boot.jdbc"))
			.run((context) -> {
				assertThat(StartFailures.invalidValue(context).getReason()).isEqualTo("Spring JDBC is not on the"
						+ " class path; add the dependency org.springframework.boot:spring-boot-starter-jdbc");
			});
	}

	@Test
	void aStoreOfTheApplicationNeedsNoModule() {
		new ApplicationContextRunner()
			.withConfiguration(
					AutoConfigurations.of(TimingWheelAutoConfiguration.class, TimingWheelStoreAutoConfiguration.class))
			.withPropertyValues("timingwheel.store.type=jdbc")
			.withBean("mine", DelayedTaskStore.class, MemoryStore::new)
			.withClassLoader(new FilteredClassLoader("io.timingwheel.spring.durable.jdbc"))
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void runsAnotherScript() {
		this.runner
			.withPropertyValues("timingwheel.store.jdbc.schema=classpath:my-schema-@@platform@@.sql",
					"timingwheel.store.jdbc.platform=any", "timingwheel.store.jdbc.table-name=later")
			.run((context) -> {
				JdbcTemplate jdbc = new JdbcTemplate(context.getBean(DataSource.class));
				assertThat(jdbc.queryForObject("select remark from later", String.class)).isEqualTo("später");
			});
	}

	@Test
	void goesOnAfterAStatementThatFailsOnlyWithContinueOnError() {
		this.runner
			.withPropertyValues("timingwheel.store.jdbc.schema=classpath:my-schema-broken.sql",
					"timingwheel.store.jdbc.continue-on-error=true")
			.run((context) -> assertThat(context).hasNotFailed());
		this.runner.withPropertyValues("timingwheel.store.jdbc.schema=classpath:my-schema-broken.sql")
			.run((context) -> assertThat(context).hasFailed());
	}

	static class Bodies {

		private final CountDownLatch ran = new CountDownLatch(1);

		@Delayed(delay = "0s", name = "body", durable = true, policy = @TaskPolicy(maxConcurrent = 1))
		public void run(long id) {
			this.ran.countDown();
		}

		public boolean awaitRun() throws InterruptedException {
			return this.ran.await(1, TimeUnit.MINUTES);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OwnStore {

		@Bean
		DelayedTaskStore mine(DataSource dataSource) {
			return new JdbcDelayedTaskStore(dataSource, dataSource, "mine", null);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class TwoDataSources {

		@Bean
		DataSource dataSource() {
			return DataSourceBuilder.create().url("jdbc:h2:mem:application").build();
		}

		@TimingWheelDataSource
		@Bean(defaultCandidate = false)
		DataSource storeDataSource() {
			return DataSourceBuilder.create().url("jdbc:h2:mem:store").build();
		}

	}

}

package io.timingwheel.spring.durable.jdbc.autoconfigure;

import java.nio.file.Path;
import java.sql.SQLException;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import javax.sql.DataSource;

import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.TaskPolicy;
import io.timingwheel.spring.autoconfigure.TimingWheelAutoConfiguration;
import io.timingwheel.spring.durable.autoconfigure.TimingWheelStoreAutoConfiguration;
import io.timingwheel.spring.durable.call.MemoryStore;
import io.timingwheel.spring.durable.jdbc.JdbcDelayedTaskStore;
import io.timingwheel.spring.durable.jdbc.Schema;
import io.timingwheel.spring.durable.jdbc.TimingWheelDataSource;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.UnusableTaskStoreException;
import org.h2.Driver;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.task.ThreadPoolTaskExecutorCustomizer;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.dao.IncorrectUpdateSemanticsDataAccessException;
import org.springframework.dao.PermissionDeniedDataAccessException;
import org.springframework.dao.QueryTimeoutException;
import org.springframework.dao.RecoverableDataAccessException;
import org.springframework.dao.TransientDataAccessResourceException;
import org.springframework.dao.TypeMismatchDataAccessException;
import org.springframework.jdbc.BadSqlGrammarException;
import org.springframework.jdbc.CannotGetJdbcConnectionException;
import org.springframework.jdbc.InvalidResultSetAccessException;
import org.springframework.jdbc.UncategorizedSQLException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.SimpleDriverDataSource;
import org.springframework.transaction.CannotCreateTransactionException;
import org.springframework.transaction.TransactionSystemException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.junit.jupiter.params.provider.Arguments.arguments;

@ExtendWith(OutputCaptureExtension.class)
class JdbcStoreTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(
				AutoConfigurations.of(TimingWheelJdbcStoreAutoConfiguration.class, DataSourceAutoConfiguration.class))
		.withPropertyValues("timingwheel.store.type=jdbc", "spring.datasource.url=jdbc:h2:mem:" + UUID.randomUUID());

	private final ApplicationContextRunner hikari = this.runner
		.withPropertyValues("spring.datasource.type=com.zaxxer.hikari.HikariDataSource");

	private final ApplicationContextRunner withTimingWheel = this.hikari.withConfiguration(
			AutoConfigurations.of(TimingWheelAutoConfiguration.class, TimingWheelStoreAutoConfiguration.class));

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
	void aStoreOfTheApplicationTakesItsPlaceAndNeedsNoModule() {
		this.withTimingWheel.withBean("mine", DelayedTaskStore.class, MemoryStore::new)
			.run((context) -> assertThat(context).hasSingleBean(DelayedTaskStore.class));
		new ApplicationContextRunner()
			.withConfiguration(
					AutoConfigurations.of(TimingWheelAutoConfiguration.class, TimingWheelStoreAutoConfiguration.class))
			.withPropertyValues("timingwheel.store.type=jdbc")
			.withBean("mine", DelayedTaskStore.class, MemoryStore::new)
			.withClassLoader(new FilteredClassLoader("io.timingwheel.spring.durable.jdbc"))
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void theLineThatSaysThatTheWheelRunsNamesTheStore(CapturedOutput output) {
		this.withTimingWheel.withBean(MemoryStore.class)
			.run((context) -> assertThat(output.getAll().lines().filter((line) -> line.contains("Timing wheel runs")))
				.singleElement()
				.asString()
				.endsWith(", store MemoryStore"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "cancel", "run" })
	void bootsExecutorIsCustomizedOnce(String pending) {
		this.withTimingWheel.withPropertyValues("timingwheel.shutdown.pending=" + pending)
			.run((context) -> assertThat(context).hasSingleBean(ThreadPoolTaskExecutorCustomizer.class));
	}

	@Test
	void createsATableOfAnotherName() {
		this.runner.withPropertyValues("timingwheel.store.jdbc.table-name=public.later").run((context) -> {
			context.getBean(DelayedTaskStore.class).check();
			JdbcTemplate jdbc = new JdbcTemplate(context.getBean(DataSource.class));
			assertThat(jdbc.queryForObject("select count(*) from later", Long.class)).isZero();
			assertThat(jdbc.queryForList("select index_name from information_schema.indexes where table_name = 'LATER'",
					String.class))
				.contains("LATER_HELD", "LATER_CLAIM", "LATER_LISTING", "LATER_DEAD");
			assertThat(jdbc.queryForList("select version from later_version", Integer.class)).contains(1);
		});
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "1", "a.b.c", "a.", ".a", "a b", "a;", "a'", "\"a\"", "a-b", "\u00e4" })
	void aTableNameWithOtherCharactersIsRefused(String name) {
		assertThatIllegalArgumentException().isThrownBy(() -> Schema.checkTableName(name))
			.withMessageContaining("\"" + name + "\" must consist of at most 55 letters, digits and underscores");
	}

	@Test
	void createsAndFindsTheTableWithOneConnection(@TempDir Path folder) {
		ApplicationContextRunner onFile = this.hikari.withPropertyValues("spring.datasource.hikari.maximum-pool-size=1",
				"spring.datasource.url=jdbc:h2:file:" + folder.resolve("tasks") + ";WRITE_DELAY=0");
		onFile.run((context) -> assertThatExceptionOfType(UnusableTaskStoreException.class)
			.as("a file is no embedded database")
			.isThrownBy(() -> context.getBean(DelayedTaskStore.class).check())
			.withMessageContaining("is missing"));
		for (String mode : List.of("always", "never")) {
			onFile.withPropertyValues("timingwheel.store.jdbc.initialize-schema=" + mode)
				.run((context) -> context.getBean(DelayedTaskStore.class).check());
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { ";DATABASE_TO_UPPER=FALSE", ";DATABASE_TO_LOWER=TRUE",
			";DATABASE_TO_UPPER=FALSE;CASE_INSENSITIVE_IDENTIFIERS=TRUE", ";MODE=MySQL", ";MODE=LEGACY",
			";MODE=PostgreSQL;DATABASE_TO_LOWER=TRUE;DEFAULT_NULL_ORDERING=HIGH", "" })
	void tasksRunWithSettingsOfH2ThatChangeNamesAndWithConnectionsThatDoNotCommit(String settings) {
		this.withTimingWheel
			.withPropertyValues("spring.datasource.url=jdbc:h2:mem:" + UUID.randomUUID() + settings,
					"spring.datasource.hikari.auto-commit=" + !settings.isEmpty())
			.withBean(Bodies.class)
			.run((context) -> {
				assertThat(context).hasNotFailed();
				context.getBean(Bodies.class).run(5);
				assertThat(Bodies.RUNS.poll(1, TimeUnit.MINUTES)).isEqualTo(5);
			});
	}

	@Test
	void createsTheTableThroughTheDataSourceOfTheStore() {
		this.runner.withUserConfiguration(TwoDataSources.class).run((context) -> {
			DataSource store = context.getBean("storeDataSource", DataSource.class);
			assertThat(new JdbcTemplate(store).queryForObject("select count(*) from timingwheel_task", Long.class))
				.isZero();
			context.getBean(DelayedTaskStore.class).check();
		});
	}

	static Stream<Arguments> errors() {
		SQLException cause = new SQLException("an answer of the database");
		SQLException readOnly = new SQLException("cannot execute UPDATE in a read-only transaction", "25006");
		return Stream.of(arguments(true, new DataIntegrityViolationException("too long")),
				arguments(true, new DuplicateKeyException("taken")),
				arguments(true, new BadSqlGrammarException("claim", "update", cause)),
				arguments(true, new InvalidResultSetAccessException("claim", "update", cause)),
				arguments(true, new IncorrectUpdateSemanticsDataAccessException("two rows")),
				arguments(true, new TypeMismatchDataAccessException("no number")),
				arguments(true, new PermissionDeniedDataAccessException("not permitted", cause)),
				arguments(true, new IllegalArgumentException("no name")),
				arguments(false, new UncategorizedSQLException("claim", "update", readOnly)),
				arguments(false, new UncategorizedSQLException("claim", "update", cause)),
				arguments(false, new CannotGetJdbcConnectionException("away", cause)),
				arguments(false, new CannotCreateTransactionException("away")),
				arguments(false, new DataAccessResourceFailureException("away")),
				arguments(false, new TransientDataAccessResourceException("away")),
				arguments(false, new RecoverableDataAccessException("away")),
				arguments(false, new QueryTimeoutException("slow")),
				arguments(false, new CannotAcquireLockException("locked")),
				arguments(false, new TransactionSystemException("no commit")),
				arguments(false, new IllegalStateException("closed")));
	}

	/** A task whose request is refused may end, which it must not in an outage. */
	@ParameterizedTest
	@MethodSource("errors")
	void whatSpringNamesAsTheFaultOfARequestIsARefusalAndAnyOtherErrorMayBeAnOutage(boolean refusal, Exception error) {
		DataSource dataSource = new SimpleDriverDataSource();
		assertThat(new JdbcDelayedTaskStore(dataSource, dataSource, "tasks", null).isRefusal(error)).isEqualTo(refusal);
	}

	static class Bodies {

		static final BlockingQueue<Long> RUNS = new LinkedBlockingQueue<>();

		@Delayed(delay = "0s", name = "body", durable = true, policy = @TaskPolicy(maxConcurrent = 1))
		public void run(long id) {
			RUNS.add(id);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class TwoDataSources {

		@Bean
		DataSource dataSource() {
			return new SimpleDriverDataSource(new Driver(), "jdbc:h2:mem:application");
		}

		@TimingWheelDataSource
		@Bean(defaultCandidate = false)
		DataSource storeDataSource() {
			return new SimpleDriverDataSource(new Driver(), "jdbc:h2:mem:store;DB_CLOSE_DELAY=-1");
		}

	}

}

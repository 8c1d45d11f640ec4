package io.timingwheel.spring.autoconfigure;

import java.util.UUID;

import javax.sql.DataSource;

import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.jdbc.JdbcDelayedTaskStore;
import io.timingwheel.spring.durable.jdbc.TimingWheelDataSource;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.jdbc.DataSourceBuilder;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.init.DataSourceScriptDatabaseInitializer;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.SimpleDriverDataSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

class JdbcStoreTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(
				AutoConfigurations.of(TimingWheelJdbcStoreAutoConfiguration.class, DataSourceAutoConfiguration.class))
		.withPropertyValues("timingwheel.store.type=jdbc", "spring.datasource.url=jdbc:h2:mem:" + UUID.randomUUID());

	@Test
	void isReadyOnAnEmbeddedDatabase() {
		this.runner.run((context) -> {
			DelayedTaskStore store = context.getBean(DelayedTaskStore.class);
			store.check();
			assertThat(store.counts()).isEmpty();
		});
	}

	@Test
	void isThereOnlyIfItIsAskedFor() {
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
			context.getBean(DelayedTaskStore.class).check();
			JdbcTemplate jdbc = new JdbcTemplate(context.getBean(DataSource.class));
			assertThat(jdbc.queryForObject("select count(*) from later", Long.class)).isZero();
			assertThat(jdbc.queryForList("select index_name from information_schema.indexes where table_name = 'LATER'",
					String.class))
				.contains("LATER_PENDING_KEY", "LATER_NEXT_AT", "LATER_NAME");
		});
	}

	@Test
	void createsNoTableIfItIsNotToAndSaysWhatIsMissing() {
		this.runner.withPropertyValues("timingwheel.store.jdbc.initialize-schema=never").run((context) -> {
			assertThat(context).doesNotHaveBean(DataSourceScriptDatabaseInitializer.class);
			assertThatIllegalStateException().isThrownBy(context.getBean(DelayedTaskStore.class)::check)
				.withMessageContaining("io/timingwheel/spring/durable/jdbc/schema-h2.sql")
				.withMessageContaining("timingwheel.store.jdbc.initialize-schema=always");
		});
	}

	@Test
	void leasesThroughTheDataSourceOfItsOwn() {
		this.runner.withUserConfiguration(TwoDataSources.class).run((context) -> {
			DataSource engine = context.getBean("storeDataSource", DataSource.class);
			assertThat(new JdbcTemplate(engine).queryForObject("select count(*) from timingwheel_task", Long.class))
				.isZero();
			context.getBean(DelayedTaskStore.class).check();
		});
	}

	@Test
	void failsWithoutADataSource() {
		new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(TimingWheelJdbcStoreAutoConfiguration.class))
			.withPropertyValues("timingwheel.store.type=jdbc")
			.run((context) -> assertThat(reason(context)).contains("there is no DataSource", "spring.datasource.url"));
	}

	@Test
	void failsIfItIsNotClearWhichDataSourceIsMeant() {
		this.runner.withBean("one", DataSource.class, SimpleDriverDataSource::new)
			.withBean("two", DataSource.class, SimpleDriverDataSource::new)
			.run((context) -> assertThat(reason(context)).contains("more than one DataSource", "@Primary"));
	}

	@Test
	void failsWithoutSpringJdbc() {
		this.runner
			.withClassLoader(new FilteredClassLoader("org.springframework.jdbc", "org.springframework.boot.jdbc"))
			.run((context) -> assertThat(reason(context)).contains("spring-boot-starter-jdbc"));
	}

	@Test
	void refusesATableNameThatIsNone() {
		this.runner.withPropertyValues("timingwheel.store.jdbc.table-name=tasks; drop table orders")
			.run((context) -> assertThat(reason(context)).contains("letters, digits and underscores"));
	}

	private static String reason(AssertableApplicationContext context) {
		Throwable failure = context.getStartupFailure();
		while (failure != null && !(failure instanceof InvalidConfigurationPropertyValueException)) {
			failure = failure.getCause();
		}
		assertThat(failure).isNotNull();
		return ((InvalidConfigurationPropertyValueException) failure).getReason();
	}

	@Configuration(proxyBeanMethods = false)
	static class OwnStore {

		@Bean
		DelayedTaskStore mine(DataSource dataSource) {
			return new JdbcDelayedTaskStore(dataSource, dataSource, "mine");
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
			return DataSourceBuilder.create().url("jdbc:h2:mem:engine").build();
		}

	}

}

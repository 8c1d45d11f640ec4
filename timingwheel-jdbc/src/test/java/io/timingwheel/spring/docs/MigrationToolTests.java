package io.timingwheel.spring.docs;

import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import javax.sql.DataSource;

import io.timingwheel.spring.durable.jdbc.JdbcDelayedTaskStore;
import io.timingwheel.spring.durable.jdbc.autoconfigure.TimingWheelJdbcStoreAutoConfiguration;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import liquibase.command.CommandScope;
import liquibase.command.core.UpdateCommandStep;
import liquibase.command.core.helpers.DbUrlConnectionArgumentsCommandStep;
import liquibase.database.DatabaseFactory;
import liquibase.database.jvm.JdbcConnection;
import org.flywaydb.core.Flyway;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.DataSourceBuilder;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Flyway and Liquibase create the tables, as {@code docs/durable.md} says, and the store
 * finds them.
 */
@Tag("faults")
class MigrationToolTests {

	private static final String SCRIPT = "schema-h2.sql";

	private final DataSource database = DataSourceBuilder.create()
		.url("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1")
		.build();

	@TempDir
	private Path folder;

	@Test
	void flywayRunsTheScriptAsAMigration() throws Exception {
		try (InputStream script = JdbcDelayedTaskStore.class.getResourceAsStream(SCRIPT)) {
			Files.copy(script, this.folder.resolve("V7__timingwheel.sql"));
		}
		Flyway.configure().dataSource(this.database).locations("filesystem:" + this.folder).load().migrate();
		assertThatTheStoreIsReady();
	}

	@Test
	void liquibaseRunsTheChangelogOfThePage() throws Exception {
		Matcher changelog = Pattern.compile("```yaml\n(databaseChangeLog:.*?)```", Pattern.DOTALL)
			.matcher(Files.readString(Path.of("../docs/durable.md")));
		assertThat(changelog.find()).isTrue();
		Path file = Path.of("target/test-classes/changelog-" + UUID.randomUUID() + ".yaml");
		Files.writeString(file, changelog.group(1).replace("schema-postgresql.sql", SCRIPT));
		try {
			new CommandScope(UpdateCommandStep.COMMAND_NAME)
				.addArgumentValue(DbUrlConnectionArgumentsCommandStep.DATABASE_ARG,
						DatabaseFactory.getInstance()
							.findCorrectDatabaseImplementation(new JdbcConnection(this.database.getConnection())))
				.addArgumentValue(UpdateCommandStep.CHANGELOG_FILE_ARG, file.getFileName().toString())
				.execute();
		}
		finally {
			Files.delete(file);
		}
		assertThatTheStoreIsReady();
	}

	private void assertThatTheStoreIsReady() {
		new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(TimingWheelJdbcStoreAutoConfiguration.class))
			.withBean(DataSource.class, () -> this.database)
			.withPropertyValues("timingwheel.store.type=jdbc", "timingwheel.store.jdbc.initialize-schema=never")
			.run((context) -> {
				DelayedTaskStore store = context.getBean(DelayedTaskStore.class);
				store.check();
				assertThat(store.counts(List.of())).isEmpty();
			});
	}

}

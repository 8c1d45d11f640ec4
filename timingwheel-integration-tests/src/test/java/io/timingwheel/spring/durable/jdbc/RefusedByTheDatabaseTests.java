package io.timingwheel.spring.durable.jdbc;

import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

import com.zaxxer.hikari.HikariDataSource;
import io.timingwheel.spring.annotation.Backoff;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.Recurring;
import io.timingwheel.spring.annotation.TaskPolicy;
import io.timingwheel.spring.durable.DurableTaskAdmin;
import io.timingwheel.spring.durable.TestLog;
import io.timingwheel.spring.durable.store.StoredTask;
import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.TaskId;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.context.ApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a database refuses for good is no outage: tasks end all the same, and the log says
 * what happened.
 */
@Tag("servers")
class RefusedByTheDatabaseTests {

	private static final String ARROW = "\u2192";

	private static final String UNAVAILABLE = "is unavailable";

	@Test
	void anEncodingWithoutAllCharactersStopsTheStart() {
		DurableApplication.on(databaseWith("LATIN1"))
			.run((context) -> assertThat(context).getFailure()
				.hasStackTraceContaining("the database has the encoding LATIN1")
				.hasStackTraceContaining("JdbcDelayedTaskStore bean with a DataSource for a database"));
	}

	@Test
	void aDatabaseThatKnowsNoCharactersKeepsArgumentsErrorsNamesAndKeys() throws Exception {
		TestLog log = run(databaseWith("SQL_ASCII"), (context) -> {
			Work work = context.getBean(Work.class);
			DelayedTaskOperations operations = context.getBean(DelayedTaskOperations.class);
			String text = "\u00e9 " + ARROW + " \ud83d\ude00 \\u2192 \"\0" + ARROW.repeat(3000);
			work.failing(text);
			work.arrow();
			for (String key : List.of(ARROW, "\u00e9", "\\u2192", "\ud83d\ude00\\")) {
				work.keyed(key);
				assertThat(operations.find(TaskId.of("keyed", key))).isPresent();
				assertThat(operations.cancel(TaskId.of("keyed", key))).isTrue();
			}
			awaitDead(context, "java.lang.IllegalStateException: \u00e9 \u2192 \ud83d\ude00");
			Awaitility.await().until(() -> work.seen().containsAll(List.of(text, "tick", ARROW)));
		});
		assertThat(log).doesNotContain(UNAVAILABLE, "refuses");
	}

	@Test
	void aTableThatIsMissingForATimeIsNoOutage() throws Exception {
		try (HikariDataSource pool = TestDatabase.POSTGRESQL.newTaskDatabase()) {
			JdbcTemplate jdbc = new JdbcTemplate(pool);
			TestLog log = new TestLog();
			run(log, pool.getJdbcUrl(), (context) -> {
				jdbc.execute("alter table timingwheel_task rename to gone");
				Awaitility.await().until(() -> log.toString().contains("refuses a request ("));
				jdbc.execute("alter table gone rename to timingwheel_task");
				Awaitility.await().until(() -> log.toString().contains("accepts all requests again"));
			});
			assertThat(log).doesNotContain(UNAVAILABLE);
		}
	}

	@Test
	void connectionsThatAreReadOnlyStopTheStart() {
		try (HikariDataSource pool = TestDatabase.POSTGRESQL.newTaskDatabase()) {
			for (String option : List.of("spring.datasource.hikari.read-only=true",
					"spring.datasource.hikari.connection-init-sql=set default_transaction_read_only = on")) {
				DurableApplication.on(pool.getJdbcUrl())
					.withPropertyValues(option)
					.run((context) -> assertThat(context).getFailure()
						.hasStackTraceContaining("in a read-only transaction"));
			}
		}
	}

	private static void awaitDead(ApplicationContext context, String error) {
		DurableTaskAdmin admin = context.getBean(DurableTaskAdmin.class);
		Awaitility.await().until(() -> !admin.findDead("failing", 1).isEmpty());
		StoredTask dead = admin.findDead("failing", 1).get(0);
		assertThat(dead.attempt()).isEqualTo(2);
		assertThat(dead.error()).startsWith(error);
	}

	private static TestLog run(String url, Consumer<ApplicationContext> test) throws Exception {
		TestLog log = new TestLog();
		run(log, url, test);
		return log;
	}

	private static void run(TestLog log, String url, Consumer<ApplicationContext> test) throws Exception {
		log.of(() -> DurableApplication.on(url).withBean(Work.class).run((context) -> {
			assertThat(context).hasNotFailed();
			test.accept(context);
		}));
	}

	private static String databaseWith(String encoding) {
		try (HikariDataSource pool = TestDatabase.POSTGRESQL.newDatabase()) {
			JdbcTemplate jdbc = new JdbcTemplate(pool);
			String name = jdbc.queryForObject("select current_database()", String.class);
			jdbc.execute("create database " + name + encoding + " encoding '" + encoding
					+ "' template template0 lc_collate 'C' lc_ctype 'C'");
			return pool.getJdbcUrl().replace(name, name + encoding.toLowerCase(Locale.ROOT));
		}
	}

	static class Work {

		private final Set<String> seen = ConcurrentHashMap.newKeySet();

		Set<String> seen() {
			return this.seen;
		}

		@Delayed(delay = "0s", name = "failing", durable = true,
				policy = @TaskPolicy(maxAttempts = 2, backoff = @Backoff(initial = "1ms")))
		public void failing(String text) {
			this.seen.add(text);
			throw new IllegalStateException(text);
		}

		@Delayed(delay = "1h", name = "keyed", key = "#key", durable = true)
		public void keyed(String key) {
		}

		@Delayed(delay = "0s", name = ARROW, durable = true, policy = @TaskPolicy(maxConcurrent = 1))
		public void arrow() {
			this.seen.add(ARROW);
		}

		@Recurring(every = "50ms", name = "tick", durable = true)
		public void tick() {
			this.seen.add("tick");
			throw new IllegalStateException(ARROW);
		}

	}

}

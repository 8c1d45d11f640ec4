package io.timingwheel.spring.durable.jdbc;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;

import com.zaxxer.hikari.HikariDataSource;
import io.timingwheel.spring.annotation.Backoff;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.Recurring;
import io.timingwheel.spring.annotation.TaskPolicy;
import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.DurableCall;
import io.timingwheel.spring.task.TaskId;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Options of a driver change how statements are prepared, and the types of their
 * parameters. Whatever the options, all tasks run.
 */
@Tag("servers")
class DriverOptionTests {

	private static final int TASKS = 60;

	static List<Arguments> options() {
		return List.of(Arguments.of(TestDatabase.POSTGRESQL, "preferQueryMode=simple&reWriteBatchedInserts=true"),
				Arguments.of(TestDatabase.POSTGRESQL, "stringtype=unspecified&autosave=always&defaultRowFetchSize=1"),
				Arguments.of(TestDatabase.POSTGRESQL, "prepareThreshold=-1"),
				Arguments.of(TestDatabase.POSTGRESQL,
						"prepareThreshold=0&preferQueryMode=extendedForPrepared&binaryTransfer=false"),
				Arguments.of(TestDatabase.MARIADB,
						"sessionVariables=sql_mode='ORACLE'&useAffectedRows=true&useServerPrepStmts=true"),
				Arguments.of(TestDatabase.MARIADB, "autocommit=false&transactionIsolation=SERIALIZABLE"),
				Arguments.of(TestDatabase.H2_MEMORY, "CASE_INSENSITIVE_IDENTIFIERS=TRUE"));
	}

	@ParameterizedTest
	@MethodSource("options")
	void allTasksRun(TestDatabase database, String options) {
		DurableApplication.on(url(database, options)).withBean(Work.class).run((context) -> {
			assertThat(context).hasNotFailed();
			Work work = context.getBean(Work.class);
			DelayedTaskOperations operations = context.getBean(DelayedTaskOperations.class);
			operations.enqueueAll(calls("plain", false));
			operations.enqueueAll(calls("transactional", true));
			operations.enqueueAll(calls("narrow", false));
			operations.enqueueAll(calls("rated", true));
			IntStream.range(0, 5).forEach(work::failing);
			DurableCall kept = DurableCall.of(TaskId.of("plain", "k"), Duration.ofHours(1), TASKS);
			for (DurableCall call : List.of(kept, kept, kept.updating(), kept.maxWait(Duration.ofHours(2)))) {
				operations.enqueueAll(List.of(call));
			}
			assertThat(operations.reschedule(TaskId.of("plain", "k"), Duration.ZERO)).isTrue();
			operations.enqueue(TaskId.of("plain", "never"), Duration.ofHours(1), TASKS + 1);
			assertThat(operations.find(TaskId.of("plain", "never"))).isPresent();
			assertThat(operations.cancel(TaskId.of("plain", "never"))).isTrue();
			Awaitility.await().untilAsserted(() -> {
				assertThat(List.of("plain", "transactional", "narrow", "rated", "failing"))
					.extracting((name) -> work.done(name).size())
					.containsExactly(TASKS + 1, TASKS, TASKS, TASKS, 5);
				assertThat(work.done("ticks")).hasSizeGreaterThan(2);
			});
		});
	}

	private static String url(TestDatabase database, String options) {
		if (database == TestDatabase.H2_MEMORY) {
			return "jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1;" + options;
		}
		try (HikariDataSource pool = database.newDatabase()) {
			String url = pool.getJdbcUrl();
			return url + (url.contains("?") ? "&" : "?") + options;
		}
	}

	private static List<DurableCall> calls(String name, boolean keyed) {
		return IntStream.range(0, TASKS)
			.mapToObj((i) -> keyed ? DurableCall.of(TaskId.of(name, i), Duration.ofMillis(i), i)
					: DurableCall.of(name, Duration.ofMillis(i), i))
			.toList();
	}

	static class Work {

		private final ConcurrentHashMap<String, Set<Integer>> done = new ConcurrentHashMap<>();

		Set<Integer> done(String name) {
			return this.done.computeIfAbsent(name, (key) -> ConcurrentHashMap.newKeySet());
		}

		@Delayed(delay = "0s", name = "plain", durable = true)
		public void plain(int number) {
			done("plain").add(number);
		}

		@Delayed(delay = "0s", name = "transactional", durable = true, transactional = true)
		public void transactional(int number) {
			done("transactional").add(number);
		}

		@Delayed(delay = "0s", name = "narrow", durable = true, policy = @TaskPolicy(maxConcurrent = 2))
		public void narrow(int number) {
			done("narrow").add(number);
		}

		@Delayed(delay = "0s", name = "rated", key = "#number", durable = true,
				policy = @TaskPolicy(maxConcurrentPerKey = 1, rate = "100/s"))
		public void rated(int number) {
			done("rated").add(number);
		}

		@Delayed(delay = "0s", name = "failing", durable = true,
				policy = @TaskPolicy(backoff = @Backoff(initial = "50ms")))
		public void failing(int number) {
			if (!done("failing-before").add(number)) {
				done("failing").add(number);
				return;
			}
			throw new IllegalStateException("It's the first 'attempt' \\ a \u2192 b");
		}

		@Recurring(every = "200ms", name = "ticks", durable = true)
		public void tick() {
			done("ticks").add(done("ticks").size());
		}

	}

}

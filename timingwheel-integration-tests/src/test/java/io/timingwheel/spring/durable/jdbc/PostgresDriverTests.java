package io.timingwheel.spring.durable.jdbc;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Stream;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.timingwheel.spring.durable.jdbc.TestDatabase;
import io.timingwheel.spring.durable.store.ClaimRequest;
import io.timingwheel.spring.durable.store.ClaimRequest.Share;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.store.DueTime;
import io.timingwheel.spring.durable.store.LeasedTask;
import io.timingwheel.spring.durable.store.NewTask;
import io.timingwheel.spring.durable.store.Settlement;
import io.timingwheel.spring.durable.store.StartLimits;
import io.timingwheel.spring.task.IfPending;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Claims work whatever the options of the driver: of names with and without limits, with
 * the database's own clock.
 */
class PostgresDriverTests {

	private static final Duration LEASE = Duration.ofMinutes(5);

	@ParameterizedTest
	@ValueSource(strings = { "preferQueryMode=simple&reWriteBatchedInserts=true",
			"stringtype=unspecified&autosave=always&defaultRowFetchSize=1", "prepareThreshold=-1",
			"prepareThreshold=0&preferQueryMode=extendedForPrepared&binaryTransfer=false" })
	void allTasksAreClaimed(String options) {
		try (HikariDataSource pool = JdbcStores.withTables(TestDatabase.POSTGRESQL.newDatabase());
				HikariDataSource withOptions = new HikariDataSource(config(pool.getJdbcUrl(), options))) {
			DelayedTaskStore store = JdbcStores.open(withOptions);
			for (int i = 0; i < 8; i++) {
				assertThat(runTwo(store, "name", null)).isEqualTo(2);
				assertThat(runTwo(store, "name", new StartLimits(2, 0, 0, 1))).isEqualTo(2);
				assertThat(runTwo(store, "name", new StartLimits(2, 1, 10, 1000))).isEqualTo(2);
				assertThat(runTwo(store, "name", new StartLimits(0, 0, 10, 1000))).isEqualTo(2);
			}
			store.setPaused("name", true);
			assertThat(store.claim(request("name", null)).pausedNames()).containsExactly("name");
		}
	}

	private static int runTwo(DelayedTaskStore store, String name, @Nullable StartLimits limits) {
		store.enqueue(Stream.of("a", "b")
			.map((key) -> new NewTask(UUID.randomUUID().toString(), name, key, "{}", null, DueTime.after(Duration.ZERO),
					IfPending.REPLACE, null))
			.toList());
		List<LeasedTask> tasks = new ArrayList<>(store.claim(request(name, limits)).tasks());
		assertThat(
				store.settle(tasks.stream().<Settlement>map((task) -> new Settlement.Acknowledge(task.ref())).toList()))
			.containsOnly(Reply.DONE);
		return tasks.size();
	}

	private static ClaimRequest request(String name, @Nullable StartLimits limits) {
		return new ClaimRequest("a", Map.of(name, new Share(10, 10, limits, null)), 10, true, Duration.ofSeconds(1),
				LEASE, Long.MAX_VALUE);
	}

	private static HikariConfig config(String url, String options) {
		HikariConfig config = new HikariConfig();
		config.setJdbcUrl(url + (url.contains("?") ? "&" : "?") + options);
		config.setMaximumPoolSize(2);
		return config;
	}

}

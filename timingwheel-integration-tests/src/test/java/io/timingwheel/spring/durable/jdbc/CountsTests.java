package io.timingwheel.spring.durable.jdbc;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

import com.zaxxer.hikari.HikariDataSource;
import io.timingwheel.spring.durable.jdbc.ExplainedDataSource.Execution;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.Forecast;
import io.timingwheel.spring.durable.store.Forecast.DueCounts;
import io.timingwheel.spring.durable.store.StoredCounts;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Counts and forecasts of many tasks: exact up to a cap, and beyond it an estimate on
 * PostgreSQL and a lower bound on the other databases.
 */
@Tag("servers")
class CountsTests {

	/** How many tasks of a name and state are counted exactly. */
	private static final int MAX_EXACT = 5000;

	private static final long HOUR = 3_600_000;

	private static final int PENDING = 0;

	private static final int RUNNING = 1;

	private static final int DEAD = 2;

	private HikariDataSource pool;

	private Dialect dialect;

	@AfterEach
	void close() {
		this.pool.close();
	}

	private DelayedTaskStore open(TestDatabase database) {
		this.pool = database.newTaskDatabase();
		this.dialect = ConnectionSettings.read(this.pool, null).dialect();
		return JdbcStores.open(this.pool);
	}

	@ParameterizedTest
	@EnumSource(names = { "H2_MEMORY", "POSTGRESQL", "MARIADB" })
	void fewTasksAreCountedExactlyAndManyAreEstimated(TestDatabase database) {
		DelayedTaskStore store = open(database);
		assertThat(store.counts(Set.of())).isEmpty();
		insert("few", PENDING, 250, HOUR);
		insert("few", PENDING, 40, -HOUR);
		insert("few", RUNNING, 30, -HOUR);
		insert("few", DEAD, 20, -HOUR);
		insert("only-dead", DEAD, 299, -HOUR);
		insert("many", PENDING, 8000, HOUR);
		insert("many", PENDING, 2000, -HOUR);
		insert("many", RUNNING, 150, -HOUR);
		Map<String, StoredCounts> counts = store.counts(Set.of());
		assertThat(counts).containsOnlyKeys("few", "only-dead", "many");
		assertThat(counts.get("few")).isEqualTo(new StoredCounts(290, 40, 30, 20));
		assertThat(counts.get("only-dead")).isEqualTo(new StoredCounts(0, 0, 0, 299));
		StoredCounts many = counts.get("many");
		assertThat(many.estimated()).isTrue();
		boolean postgres = database == TestDatabase.POSTGRESQL;
		assertThat(many.pending()).isBetween(postgres ? 8_000L : MAX_EXACT, postgres ? 12_000L : MAX_EXACT);
		assertThat(many.overdue()).isEqualTo(2000);
		assertThat(many.running()).isEqualTo(150);
		assertThat(many.dead()).isZero();
		assertThat(store.counts(Set.of("few", "absent"))).containsOnlyKeys("few");
	}

	@Test
	void postgresCountsTheFirstTasksOfEachNameAndInSomePages() {
		open(TestDatabase.POSTGRESQL);
		insert("small", PENDING, 500, HOUR);
		insert("large", PENDING, 60_000, HOUR);
		insert("large", PENDING, 20_000, -HOUR);
		new JdbcTemplate(this.pool).execute("vacuum analyze timingwheel_task");
		try (ExplainedDataSource explained = new ExplainedDataSource(this.pool.getJdbcUrl(), 1)) {
			DelayedTaskStore store = JdbcStores.open(explained);
			store.now();
			explained.executions();
			StoredCounts large = store.counts(Set.of()).get("large");
			assertThat(large.pending()).isBetween(70_000L, 90_000L);
			assertThat(large.overdue()).isBetween(15_000L, 25_000L);
			assertThat(rowsRead(explained)).isLessThan(4 * MAX_EXACT);
			Map<String, DueCounts> forecast = store
				.forecast(new Forecast.Query(Map.of("large", 80_000L, "small", 500L), Duration.ofMinutes(2), 40))
				.names();
			assertThat(forecast.get("large").counts()).as("the spans before the one that has too many tasks")
				.hasSize(29)
				.containsOnly(0L);
			assertThat(forecast.get("small").counts()).hasSize(40);
			assertThat(sum(forecast.get("small"))).isEqualTo(500);
			assertThat(rowsRead(explained)).isLessThan(51_000);
		}
	}

	private static long sum(DueCounts counts) {
		return counts.counts().stream().mapToLong(Long::longValue).sum();
	}

	/**
	 * How many rows the statements have read, other than those that read some pages.
	 */
	private static long rowsRead(ExplainedDataSource explained) {
		return explained.executions()
			.stream()
			.filter((execution) -> !execution.sql().contains("tablesample"))
			.mapToLong((Execution execution) -> execution.rowsRead(JdbcStores.TABLE))
			.sum();
	}

	private void insert(String name, int status, int count, long delay) {
		long due = System.currentTimeMillis() + delay;
		List<Object[]> rows = new ArrayList<>();
		for (int i = 0; i < count; i++) {
			rows.add(new Object[] { name + status + delay + "-" + i, this.dialect.text(name), due + i % 1000,
					(status == DEAD) ? null : due, status, (status == DEAD) ? due : null });
		}
		new JdbcTemplate(this.pool).batchUpdate(
				"insert into timingwheel_task (id, name, payload, due_at, next_at, status, died_at, fence,"
						+ " attempt, deliveries, lost, created_at) values (?, ?, '{}', ?, ?, ?, ?, 1, 1, 0, 0, 0)",
				rows);
	}

}

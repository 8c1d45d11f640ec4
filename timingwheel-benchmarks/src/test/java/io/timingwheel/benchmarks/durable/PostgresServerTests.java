package io.timingwheel.benchmarks.durable;

import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;

import io.timingwheel.spring.durable.jdbc.Schema;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

import static org.assertj.core.api.Assertions.assertThat;

class PostgresServerTests {

	private static final Duration LATENCY = Duration.ofMillis(5);

	private static final int COMMITS = 20;

	private static PostgresServer server;

	private final JdbcTemplate jdbc = new JdbcTemplate(new DriverManagerDataSource(server.url()));

	@BeforeAll
	static void start() throws Exception {
		server = new PostgresServer(LATENCY);
	}

	@AfterAll
	static void stop() throws Exception {
		server.close();
	}

	@BeforeEach
	void clear() {
		server.clear();
	}

	@Test
	void aCommitOfALoneClientTakesTheLatency() throws Exception {
		this.jdbc.execute("create table commits (number integer)");
		try (Connection connection = new DriverManagerDataSource(server.url()).getConnection();
				Statement statement = connection.createStatement()) {
			long start = System.nanoTime();
			for (int i = 0; i < COMMITS; i++) {
				statement.executeUpdate("insert into commits values (1)");
			}
			// A commit waits for nothing if the server has just written its log.
			assertThat(System.nanoTime() - start).isGreaterThan(LATENCY.toNanos() * COMMITS / 2);
		}
	}

	@Test
	void aSnapshotIsHeldBesideATransaction() throws Exception {
		String held = "select count(*) from pg_stat_activity where state = 'idle in transaction' and backend_xmin is not null";
		assertThat(server.besideTransaction(() -> this.jdbc.queryForObject(held, Long.class))).isOne();
		assertThat(server.besideTransaction(() -> server.besideTransaction(() -> 1))).isOne();
	}

	@Test
	void pendingTasksOutliveTheTasksOfTheMeasurements() {
		DriverManagerDataSource dataSource = new DriverManagerDataSource(server.url());
		Schema.create(dataSource, null, "timingwheel_task");
		String indexes = "select indexdef from pg_indexes where tablename = 'timingwheel_task' order by 1";
		List<String> before = this.jdbc.queryForList(indexes, String.class);

		server.addPending(1_000, null);

		assertThat(this.jdbc.queryForList(indexes, String.class)).isNotEmpty().isEqualTo(before);
		assertThat(names()).hasSize(1_000).contains("probe", "name-0", "name-98");
		this.jdbc.update("""
				update timingwheel_task set name = 'measured', due_at = extract(epoch from now()) * 1000 + 3600000
				where id = (select min(id) from timingwheel_task)""");
		assertThat(names()).hasSize(1_000).contains("measured");
		server.clear();
		server.addPending(1_000, null);
		assertThat(names()).hasSize(999).doesNotContain("measured");
		assertThat(server.megabytes().get("table")).isPositive();
		assertThat(server.megabytes().get("indexes")).isPositive();
	}

	private List<String> names() {
		return this.jdbc.queryForList("select name from timingwheel_task where status = 0", String.class);
	}

}

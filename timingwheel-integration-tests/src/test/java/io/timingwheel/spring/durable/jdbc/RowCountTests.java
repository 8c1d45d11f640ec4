package io.timingwheel.spring.durable.jdbc;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;

import com.zaxxer.hikari.HikariDataSource;
import io.timingwheel.spring.durable.StoredCounts;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Exact counts of few tasks, and estimates of many.
 */
class RowCountTests {

	private static final int MAX_EXACT = 300;

	private static final long HOUR = 3_600_000;

	private HikariDataSource pool;

	@AfterEach
	void close() {
		this.pool.close();
	}

	@ParameterizedTest
	@EnumSource(names = { "H2_MEMORY", "POSTGRESQL", "MARIADB" })
	void fewTasksAreCountedExactlyAndManyAreEstimated(TestDatabase database) {
		this.pool = database.newTaskDatabase();
		assertThat(counts().read()).isEmpty();
		insert("few", 0, 250, HOUR);
		insert("few", 0, 40, -HOUR);
		insert("few", 1, 30, -HOUR);
		insert("few", 2, 20, -HOUR);
		insert("only-dead", 2, 299, -HOUR);
		assertThat(counts().read()).containsOnly(Map.entry("few", new StoredCounts(290, 40, 30, 20)),
				Map.entry("only-dead", new StoredCounts(0, 0, 0, 299)));
		insert("many", 0, 8000, HOUR);
		insert("many", 0, 2000, -HOUR);
		insert("many", 1, 150, -HOUR);
		Map<String, StoredCounts> counts = counts().read();
		assertThat(counts.get("few")).isEqualTo(new StoredCounts(290, 40, 30, 20));
		assertThat(counts.get("only-dead")).isEqualTo(new StoredCounts(0, 0, 0, 299));
		StoredCounts many = counts.get("many");
		assertThat(many.estimated()).isEqualTo(database != TestDatabase.H2_MEMORY);
		assertThat(many.pending()).isBetween(4_000L, 20_000L);
		assertThat(many.overdue()).isBetween(800L, 4_000L);
		assertThat(many.running()).isEqualTo(150);
		assertThat(many.dead()).isZero();
	}

	@ParameterizedTest
	@EnumSource(names = { "H2_MEMORY", "POSTGRESQL", "MARIADB" })
	void aNameIsCountedMoreExactlyThanManyNames(TestDatabase database) {
		this.pool = database.newTaskDatabase();
		insertNames(300);
		insert("name-7", 0, 250, HOUR);
		StoredCounts among = counts().read().get("name-7");
		assertThat(among.estimated()).isEqualTo(database != TestDatabase.H2_MEMORY);
		assertThat(among.pending()).isGreaterThanOrEqualTo(RowCounts.MIN_EXACT);
		assertThat(among.dead()).isOne();
		assertThat(counts().read(Set.of("name-7", "absent")))
			.containsOnly(Map.entry("name-7", new StoredCounts(250, 0, 0, 1)));
	}

	@Test
	void postgresPlansOneSearchForAllNames() {
		this.pool = TestDatabase.POSTGRESQL.newTaskDatabase();
		insertNames(120);
		insert("large", 0, 2000, -HOUR);
		insert("large", 2, 1000, -HOUR);
		try (ExplainedDataSource explained = new ExplainedDataSource(this.pool.getJdbcUrl(), 1)) {
			RowCounts counts = counts(ConnectionSettings.read(explained));
			explained.executions();
			assertThat(counts.read()).hasSize(121);
			assertThat(explained.executions())
				.allSatisfy((execution) -> assertThat(execution.nodes()).hasSizeLessThan(20))
				.hasSizeLessThan(10);
			assertThat(counts.read(Set.of("name-3"))).hasSize(1);
			assertThat(explained.executions()
				.stream()
				.mapToLong((execution) -> execution.rowsRead(TableName.DEFAULT))
				.sum()).isLessThan(10);
			assertThat(counts.read(Set.of("large")).get("large").overdue()).isGreaterThanOrEqualTo(MAX_EXACT);
			assertThat(explained.executions()
				.stream()
				.filter((execution) -> !execution.sql().contains("tablesample"))
				.mapToLong((execution) -> execution.rowsRead(TableName.DEFAULT))
				.sum()).isEqualTo(2 * MAX_EXACT);
		}
	}

	@Test
	void postgresEstimatesFromSomePages() {
		this.pool = TestDatabase.POSTGRESQL.newTaskDatabase();
		insert("small", 0, 500, HOUR);
		insert("large", 0, 30_000, HOUR);
		insert("large", 0, 10_000, -HOUR);
		try (ExplainedDataSource explained = new ExplainedDataSource(this.pool.getJdbcUrl(), 1)) {
			ConnectionSettings settings = ConnectionSettings.read(explained);
			StoredCounts large = counts(settings).read().get("large");
			assertThat(large.pending()).isBetween(36_000L, 44_000L);
			assertThat(large.overdue()).isBetween(8_000L, 12_000L);
			long rows = explained.executions()
				.stream()
				.filter((execution) -> !execution.sql().contains("tablesample"))
				.mapToLong((execution) -> execution.rowsRead(TableName.DEFAULT))
				.sum();
			assertThat(rows).isLessThan(10 * MAX_EXACT);
		}
	}

	private RowCounts counts() {
		return counts(ConnectionSettings.read(this.pool));
	}

	private static RowCounts counts(ConnectionSettings settings) {
		ShortTransactions transactions = settings.transactions();
		return new RowCounts(new Database(new TableName(TableName.DEFAULT), settings.dialect(), transactions,
				transactions, new StoreTime(() -> 0, null)), MAX_EXACT);
	}

	/**
	 * Inserts one dead task of each of many names.
	 */
	private void insertNames(int count) {
		insert(IntStream.range(0, count).mapToObj((i) -> row("name-" + i, 2, 0, -HOUR)).toList());
	}

	private void insert(String name, int status, int count, long delay) {
		insert(IntStream.range(0, count).mapToObj((i) -> row(name, status, i, delay)).toList());
	}

	private Object[] row(String name, int status, int number, long delay) {
		long due = System.currentTimeMillis() + delay;
		return new Object[] { name + status + delay + "-" + number, name, due + number % 1000, due, status,
				(status == 2) ? due : null };
	}

	private void insert(List<Object[]> rows) {
		Dialect dialect = ConnectionSettings.read(this.pool).dialect();
		rows.forEach((row) -> row[1] = dialect.text((String) row[1]));
		new JdbcTemplate(this.pool)
			.batchUpdate("insert into timingwheel_task (id, name, payload, due_at, next_at, status,"
					+ " died_at, fence, attempt, deliveries, lost_deliveries, created_at)"
					+ " values (?, ?, '{}', ?, ?, ?, ?, 1, 1, 0, 0, 0)", rows);
	}

}

package io.timingwheel.spring.durable.store.test;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import com.zaxxer.hikari.HikariDataSource;
import io.timingwheel.spring.durable.jdbc.JdbcStores;
import io.timingwheel.spring.durable.jdbc.TestDatabase;
import io.timingwheel.spring.durable.store.ClaimRequest;
import io.timingwheel.spring.durable.store.ClaimRequest.Claimed;
import io.timingwheel.spring.durable.store.ClaimRequest.Share;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.store.LeasedTask;
import io.timingwheel.spring.durable.store.LeasedTask.TaskRef;
import io.timingwheel.spring.durable.store.ListQuery;
import io.timingwheel.spring.durable.store.ListQuery.Order;
import io.timingwheel.spring.durable.store.Settlement;
import io.timingwheel.spring.durable.store.StartLimits;
import io.timingwheel.spring.durable.store.StoredTask;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The statements of a node read a few pages, however large the table is. PostgreSQL keeps
 * the plan of a statement after about ten executions. Autovacuum is off, so that a test
 * says when PostgreSQL learns that the table has grown.
 *
 * <p>
 * The server sends the plan of each execution as a warning ({@code auto_explain}), with
 * the rows and pages that the statement has read. Spring logs it.
 */
@Tag("measuring")
class PostgresPlanTests {

	private static final int EXECUTIONS = 12;

	/** As many as a build has time to store. */
	private static final int TASKS = Integer.getInteger("timingwheel.plan.tasks", 20_000);

	private static final String NAME = StoreContract.NAME;

	private static final String OTHER_NAME = "of-another-application";

	private static final Duration HOUR = StoreContract.HOUR;

	/** More than the height of the indexes, and a few pages of a small table. */
	private static final int PAGES = 40;

	private static final String EXPLAIN = "load 'auto_explain'; set auto_explain.log_min_duration = 0;"
			+ " set auto_explain.log_analyze = on; set auto_explain.log_buffers = on; set auto_explain.log_timing = off;"
			+ " set auto_explain.log_format = json; set auto_explain.log_level = notice";

	private static final JsonMapper MAPPER = new JsonMapper();

	private final Logger logger = (Logger) LoggerFactory.getLogger(JdbcTemplate.class);

	private final List<Execution> executions = new CopyOnWriteArrayList<>();

	private final AppenderBase<ILoggingEvent> warnings = new AppenderBase<>() {

		@Override
		protected void append(ILoggingEvent event) {
			String text = event.getFormattedMessage();
			if (text.contains("message [duration:")) {
				PostgresPlanTests.this.executions
					.add(new Execution(MAPPER.readTree(text.substring(text.indexOf('{'), text.lastIndexOf('}') + 1))));
			}
		}

	};

	private final HikariDataSource explained = new HikariDataSource();

	private HikariDataSource pool;

	private JdbcTemplate jdbc;

	private DelayedTaskStore store;

	private StoreNode node;

	@BeforeEach
	void open() {
		this.pool = TestDatabase.POSTGRESQL.newTaskDatabase();
		this.jdbc = new JdbcTemplate(this.pool);
		this.jdbc.execute("alter table timingwheel_task set (autovacuum_enabled = false)");
		this.jdbc.execute("vacuum analyze timingwheel_task");
		this.explained.setJdbcUrl(this.pool.getJdbcUrl());
		this.explained.setMaximumPoolSize(1);
		this.explained.setConnectionInitSql(EXPLAIN);
		this.warnings.start();
		this.logger.addAppender(this.warnings);
		this.logger.setLevel(Level.DEBUG);
		this.logger.setAdditive(false);
		this.store = JdbcStores.open(this.explained);
		this.node = new StoreNode("a", this.store);
		this.store.now();
	}

	@AfterEach
	void close() {
		this.logger.detachAppender(this.warnings);
		this.logger.setLevel(null);
		this.logger.setAdditive(true);
		this.explained.close();
		this.pool.close();
	}

	/**
	 * PostgreSQL knows nothing of a table before it reads it for the first time, or takes
	 * it for an empty one. A claim learns of its size.
	 */
	@ParameterizedTest
	@CsvSource({ "truncate, ''", "truncate, analyze", "vacuum analyze, ''", "vacuum analyze, analyze" })
	void noStatementReadsMoreInALargeTable(String whenEmpty, String whenLarge) {
		this.jdbc.execute(whenEmpty + " timingwheel_task");
		for (int i = 0; i < EXECUTIONS; i++) {
			useEachStatement();
		}
		insert(NAME, TASKS, HOUR, HOUR);
		insert(OTHER_NAME, TASKS, HOUR.negated(), HOUR.multipliedBy(2));
		if (!whenLarge.isEmpty()) {
			this.jdbc.execute(whenLarge + " timingwheel_task");
		}
		assertThat(claim(1)).isEmpty();
		executions();
		for (int i = 0; i < EXECUTIONS; i++) {
			useEachStatement();
		}
		runTasks();
		List<Execution> executions = executions();
		assertThat(executions.size()).isGreaterThan(20 * EXECUTIONS);
		assertCheap(executions);
	}

	/** Vacuum shrinks the table. The next claim does not know it yet. */
	@Test
	void noStatementReadsMoreInATableThatWasEmptyInTheMeantime() {
		runTasks();
		this.jdbc.execute("analyze timingwheel_task");
		this.jdbc.execute("delete from timingwheel_task");
		this.jdbc.execute("vacuum timingwheel_task");
		enqueue(6, null);
		List<LeasedTask> tasks = claim(1);
		assertThat(tasks).hasSize(1);
		acknowledge(tasks);
		runTasks();
		executions();
		claimEachTime();
		assertCheap(executions());
	}

	@Test
	void statementsOnManyTasksAreNotPlannedForEachExecution() {
		for (int i = 0; i < EXECUTIONS; i++) {
			enqueue(1, null);
			acknowledge(claim(10));
		}
		assertThat(new JdbcTemplate(this.explained).queryForList(
				"select generic_plans from pg_prepared_statements where statement like '%for update% skip locked%'",
				Integer.class))
			.hasSizeGreaterThanOrEqualTo(2)
			.allSatisfy((plans) -> assertThat(plans).isPositive());
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 1 })
	void aClaimReadsNoTasksOfALimitedNameThatWait(int perKey) {
		insert(NAME, TASKS, HOUR.negated(), HOUR);
		this.jdbc.execute("analyze timingwheel_task");
		StartLimits one = new StartLimits(1, perKey, 0, 1);
		ClaimRequest request = new ClaimRequest("a",
				Map.of(NAME, new Share(100, 0, one, null), OTHER_NAME, new Share(100, 100)), 100, true,
				Duration.ofSeconds(1), StoreNode.LEASE, Long.MAX_VALUE);
		assertThat(this.store.claim(request).tasks()).hasSize(1);
		for (int i = 0; i < EXECUTIONS; i++) {
			this.store.claim(request);
		}
		executions();
		Claimed claimed = this.store.claim(request);
		assertThat(claimed.tasks()).isEmpty();
		assertThat(claimed.more()).isTrue();
		assertCheap(executions());
	}

	/**
	 * While a transaction is open, vacuum cannot remove what has been deleted since. The
	 * entries of the tasks that have run are at their due times and at the ends of their
	 * leases. Only a sweep reads them, about once a second.
	 */
	@Test
	void anOpenTransactionMakesNoClaimReadTheTasksThatHaveRun() throws SQLException {
		try (Connection connection = this.pool.getConnection(); Statement statement = connection.createStatement()) {
			connection.setAutoCommit(false);
			connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
			statement.execute("select count(*) from timingwheel_task");
			long ofNoTask = pagesOfAClaim(0, null);
			long ofOneTask = pagesOfAClaim(1, null);
			long ofLook = pagesOfAClaim(0, new StartLimits(1, 0, 0, 1));
			insert(NAME, TASKS, HOUR.negated(), HOUR.dividedBy(2));
			this.jdbc.execute("analyze timingwheel_task");
			// The store does not know of these tasks until its next sweep.
			AtomicInteger left = new AtomicInteger(TASKS);
			await().atMost(Duration.ofMinutes(2)).pollInterval(Duration.ofMillis(1)).until(() -> {
				List<LeasedTask> tasks = claim(500);
				acknowledge(tasks);
				return left.addAndGet(-tasks.size()) == 0;
			});
			assertThat(pagesOfAClaim(0, null)).isLessThan(2 * ofNoTask + PAGES);
			assertThat(pagesOfAClaim(1, null)).isLessThan(2 * ofOneTask + PAGES);
			assertThat(pagesOfAClaim(0, new StartLimits(1, 0, 0, 1))).isLessThan(2 * ofLook + PAGES);
			connection.rollback();
		}
	}

	private void runTasks() {
		insert(NAME, TASKS, HOUR.negated(), HOUR.dividedBy(2));
		// The store does not know of these tasks until its next sweep.
		await().until(() -> claim(100).size() == 100);
		claimEachTime();
	}

	private void claimEachTime() {
		for (int i = 0; i < EXECUTIONS; i++) {
			List<LeasedTask> tasks = claim(100);
			assertThat(tasks).hasSize(100);
			acknowledge(tasks);
		}
	}

	/**
	 * How many pages a claim reads that is no sweep.
	 * @param tasks how many tasks the claim finds
	 */
	private long pagesOfAClaim(int tasks, @Nullable StartLimits limits) {
		long least = Long.MAX_VALUE;
		for (int i = 0; i < EXECUTIONS; i++) {
			if (tasks > 0) {
				enqueue(tasks, null);
			}
			executions();
			Claimed claimed = this.node.claim(Map.of(NAME, new Share(100, 10, limits, null)), 100);
			List<Execution> executions = executions();
			assertThat(executions).hasSize(1);
			least = Math.min(least, executions.get(0).pagesRead());
			assertThat(claimed.tasks()).hasSize(tasks);
			acknowledge(claimed.tasks());
		}
		return least;
	}

	private void useEachStatement() {
		enqueue(6, null);
		enqueue(6, "key");
		List<LeasedTask> tasks = new ArrayList<>(claim(100));
		assertThat(tasks).hasSize(12);
		List<TaskRef> refs = tasks.stream().map(LeasedTask::ref).toList();
		assertThat(this.store.begin(refs, StoreNode.LEASE)).containsOnly(Reply.DONE);
		assertThat(this.store.renew(refs, StoreNode.LEASE)).containsOnly(Reply.DONE);
		List<Settlement> settlements = new ArrayList<>();
		for (int i = 0; i < refs.size(); i++) {
			settlements.add(switch (i % 4) {
				case 0 -> new Settlement.Acknowledge(refs.get(i));
				case 1 -> new Settlement.Retry(refs.get(i), 2, HOUR, "it failed");
				case 2 -> new Settlement.Release(refs.get(i), true);
				default -> new Settlement.Bury(refs.get(i), "it was given up");
			});
		}
		assertThat(this.store.settle(settlements)).containsOnly(Reply.DONE);
		acknowledge(claim(100));
		List<String> dead = dead().stream().map(StoredTask::id).toList();
		assertThat(dead).hasSize(3);
		this.store.requeue(dead.subList(0, 1));
		this.store.discard(dead.subList(1, 2));
		this.store.discardOlder(Duration.ZERO, 10);
		acknowledge(claim(100));
		assertThat(this.store.discardOlder(Duration.ZERO, 10)).isLessThan(2);
		for (LeasedTask task : tasks) {
			this.node.has(StoreContract.id(task));
			this.node.move(StoreContract.id(task), HOUR);
			this.node.cancel(StoreContract.id(task));
		}
		this.store.nodes();
	}

	private List<StoredTask> dead() {
		return this.store.list(new ListQuery(NAME, Order.DEAD_LATEST_FIRST, null, 100)).tasks();
	}

	private void enqueue(int count, @Nullable String key) {
		this.store.enqueue(IntStream.range(0, count)
			.mapToObj((i) -> StoreContract.task((key != null) ? key + i : null, StoreContract.NOW))
			.toList());
	}

	private List<LeasedTask> claim(int limit) {
		return this.node.claim(Map.of(NAME, new Share(limit, 0)), limit).tasks();
	}

	private void acknowledge(List<LeasedTask> tasks) {
		if (!tasks.isEmpty()) {
			assertThat(this.store
				.settle(tasks.stream().<Settlement>map((task) -> new Settlement.Acknowledge(task.ref())).toList()))
				.containsOnly(Reply.DONE);
		}
	}

	/**
	 * A statement is cheap if it searches indexes for a few tasks. A statement that
	 * changes a hundred tasks visits the pages of the indexes for each.
	 */
	private static void assertCheap(List<Execution> executions) {
		assertThat(executions).isNotEmpty();
		assertThat(executions.stream()
			.filter((each) -> each.hasSequentialScan() || each.rowsRead() >= 1000 || each.pagesRead() >= 3000)
			.limit(3)).isEmpty();
	}

	/**
	 * Inserts tasks whose due times lie between two times.
	 * @param from when the first one is due, from now
	 * @param span how long after the first one the last one is due
	 */
	private void insert(String name, int count, Duration from, Duration span) {
		this.jdbc.update(
				"""
						insert into timingwheel_task (id, name, task_key, payload, due_at, next_at, status, fence, attempt,
							deliveries, lost, created_at)
						select gen_random_uuid()::text, ?, 'key ' || number, '{"v":1,"args":[' || number || ']}', due, due, 0, 1, 1,
							0, 0, due
						from (select number, extract(epoch from now())::bigint * 1000 + ? + number::bigint * 7919 % ? as due
							from generate_series(1, ?) as g (number)) as numbers
						""",
				name, from.toMillis(), span.toMillis(), count);
	}

	private List<Execution> executions() {
		List<Execution> result = List.copyOf(this.executions);
		this.executions.clear();
		return result;
	}

	private record Execution(JsonNode json) {

		/** How many tasks the statement has read, with those that it has filtered out. */
		long rowsRead() {
			return scans().stream()
				.mapToLong((node) -> node.path("Actual Loops").asLong()
						* (node.path("Actual Rows").asLong() + node.path("Rows Removed by Filter").asLong()
								+ node.path("Rows Removed by Index Recheck").asLong()))
				.sum();
		}

		/** How many pages the statement has read, from the cache or not. */
		long pagesRead() {
			JsonNode plan = this.json.path("Plan");
			return plan.path("Shared Hit Blocks").asLong() + plan.path("Shared Read Blocks").asLong();
		}

		boolean hasSequentialScan() {
			return scans().stream().anyMatch((node) -> node.path("Node Type").asString().equals("Seq Scan"));
		}

		private List<JsonNode> scans() {
			return this.json.findParents("Relation Name")
				.stream()
				.filter((node) -> node.path("Relation Name").asString("").equals(JdbcStores.TABLE)
						&& node.path("Node Type").asString().endsWith("Scan") && node.path("Actual Loops").asLong() > 0)
				.toList();
		}

	}

}

package io.timingwheel.spring.durable.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import com.zaxxer.hikari.HikariDataSource;
import io.timingwheel.spring.durable.ClaimRequest.Limit;
import io.timingwheel.spring.durable.ClaimRequest;
import io.timingwheel.spring.durable.Claimed;
import io.timingwheel.spring.durable.DeadQuery;
import io.timingwheel.spring.durable.DeadTask;
import io.timingwheel.spring.durable.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.DelayedTaskStore.Requeue;
import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.DueTime;
import io.timingwheel.spring.durable.Forecast.DueCounts;
import io.timingwheel.spring.durable.ForecastQuery;
import io.timingwheel.spring.durable.LeasedTask;
import io.timingwheel.spring.durable.NewSchedule;
import io.timingwheel.spring.durable.NewTask;
import io.timingwheel.spring.durable.NextRun;
import io.timingwheel.spring.durable.NodeState;
import io.timingwheel.spring.durable.PendingQuery;
import io.timingwheel.spring.durable.StartLimits;
import io.timingwheel.spring.durable.StoreTestSupport;
import io.timingwheel.spring.durable.StoredTask;
import io.timingwheel.spring.durable.TaskRef;
import io.timingwheel.spring.durable.jdbc.ExplainedDataSource.Execution;
import io.timingwheel.spring.task.IfPending;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * What the statements read in a large table. One connection runs all statements, so
 * PostgreSQL keeps the plans that the server made while the table was small. The tests
 * read the plans of the real executions. Autovacuum is off, so each test decides how old
 * the statistics of the table are.
 */
class PostgresPlanTests extends StoreTestSupport {

	/**
	 * After five executions the driver asks the server to keep a statement, and after
	 * five more the server may keep a plan.
	 */
	private static final int EXECUTIONS = 12;

	/** More than the height of the indexes, and a few pages of a small table. */
	private static final int PAGES = 40;

	/** How many tasks of a limited name a claim takes. */
	private static final int LIMITED = 20;

	/** How many of the tasks of a limited name are lost. */
	private static final int LOST = 10;

	private static final String OTHER_NAME = "of-another-application";

	private HikariDataSource pool;

	private ExplainedDataSource explained;

	private JdbcTemplate jdbc;

	/**
	 * How many tasks the large table has: as many as a build has time to store.
	 */
	int tasks() {
		return 20_000;
	}

	/**
	 * How many tasks the large table has of another application.
	 */
	int tasksOfAnotherApplication() {
		return 30_000;
	}

	@BeforeEach
	void switchAutovacuumOff() {
		this.jdbc.execute("alter table timingwheel_task set (autovacuum_enabled = false)");
	}

	@AfterEach
	void close() {
		this.explained.close();
		this.pool.close();
	}

	@Override
	protected void clear() {
		this.pool = TestDatabase.POSTGRESQL.newTaskDatabase();
		this.jdbc = new JdbcTemplate(this.pool);
		this.explained = new ExplainedDataSource(this.pool.getJdbcUrl(), 1);
	}

	@Override
	protected DelayedTaskStore node() {
		DelayedTaskStore store = new JdbcDelayedTaskStore(this.explained, this.explained, TableName.DEFAULT);
		// The first operation also reads the settings of the connections.
		store.now();
		this.explained.executions();
		return store;
	}

	@Test
	void statementsOnManyTasksAreNotPlannedForEachExecution() {
		for (int i = 0; i < EXECUTIONS; i++) {
			this.store.enqueue(task(null, SOON));
			List<TaskRef> tasks = refs(claim(this.store, "a", 100).tasks().get(0));
			assertThat(this.store.begin(tasks, LEASE)).containsExactly(Reply.DONE);
			assertThat(this.store.renew(tasks, LEASE)).containsExactly(Reply.DONE);
			assertThat(this.store.acknowledge(tasks)).containsExactly(Reply.DONE);
		}
		// The text of each statement contains the size of the table.
		List<Integer> generic = new JdbcTemplate(this.explained).queryForList(
				"""
						select sum(generic_plans)::int from pg_prepared_statements
						where statement like '%for update of t skip locked%' group by regexp_replace(statement, 'at most .* pages', '')""",
				Integer.class);
		assertThat(generic).hasSize(3).allSatisfy((plans) -> assertThat(plans).isPositive());
	}

	@Test
	void aNodeThatOnlyRenewsItsLeasesReadsNoMoreWhenTheTableIsLarge() {
		this.jdbc.execute("vacuum analyze timingwheel_task");
		List<TaskRef> running = List.of(begun("k").ref());
		for (int i = 0; i < EXECUTIONS; i++) {
			assertThat(this.store.renew(running, LEASE)).containsExactly(Reply.DONE);
		}
		insert(NAME, tasks(), HOUR, HOUR);
		// The node sees the size with its next request.
		assertThat(this.store.renew(running, LEASE)).containsExactly(Reply.DONE);
		this.explained.executions();
		assertThat(this.store.renew(running, LEASE)).containsExactly(Reply.DONE);
		List<Execution> executions = this.explained.executions();
		assertThat(executions).hasSize(1);
		areCheap(executions);
	}

	@Test
	void noStatementReadsMoreInALargeTable() {
		Set<String> used = new HashSet<>();
		this.store = recording(this.store, used);
		insert(NAME, 1000, HOUR, HOUR);
		assertNoStatementReadsMore();
		List<String> notUsed = Arrays.stream(DelayedTaskStore.class.getMethods())
			.map(Method::getName)
			.filter((name) -> !used.contains(name))
			.toList();
		assertThat(notUsed).as("operations that are not measured here")
			.isSubsetOf("counts", "forecast", "now", "check", "deleteAll", "setClock", "setClockOffset",
					"canJoinTransactions", "joinsTransaction", "sharedRequest", "sharingGroups", "partialOutage",
					"droppedDead", "checkName", "isRefusal");
	}

	@Test
	void noStatementThatBeganWithAnEmptyTableReadsMoreInALargeTable() {
		assertNoStatementReadsMore();
	}

	@Test
	void aCallInATransactionThatBeganWithAnEmptyTableReadsNoMoreWhenTheTableIsLarge() {
		// The pool has one connection, which the store needs before the transaction.
		assertThat(claim()).isEmpty();
		this.jdbc.execute("vacuum analyze timingwheel_task");
		TransactionTemplate transaction = new TransactionTemplate(new JdbcTransactionManager(this.explained));
		for (int i = 0; i < EXECUTIONS; i++) {
			transaction.executeWithoutResult((status) -> assertThat(this.store.cancel(key("none"))).isFalse());
		}
		insert(NAME, tasks(), HOUR, HOUR);
		// The node sees the size with its next claim.
		claim();
		this.explained.executions();
		transaction.executeWithoutResult((status) -> assertThat(this.store.cancel(key("none"))).isFalse());
		areCheap(this.explained.executions());
	}

	private void assertNoStatementReadsMore() {
		this.jdbc.execute("vacuum analyze timingwheel_task");
		for (int i = 0; i < EXECUTIONS; i++) {
			useEachStatement();
			useStatementsOfSuspects();
			useStatementsOfSchedules();
		}
		insert(NAME, tasks() / 2, HOUR, HOUR);
		insert(OTHER_NAME, tasks() / 2, HOUR.negated(), HOUR.multipliedBy(2));
		for (int i = 0; i < 2 * DelayedTaskStore.MAX_NODES; i++) {
			this.store.report(new NodeState("node " + i, true, i));
		}
		// The node sees the size with its next claim.
		claim();
		this.explained.executions();
		useEachStatement();
		useStatementsOfSuspects();
		useStatementsOfSchedules();
		List<Execution> executions = this.explained.executions();
		assertThat(executions.size()).isGreaterThan(80);
		areCheap(executions);
	}

	@Test
	void aCountReadsTheFirstTasksOfEachNameAndASample() {
		// The table has more pages than the sample. For that, a page of a table with few
		// tasks is filled by a tenth.
		this.jdbc.execute("alter table timingwheel_task set (fillfactor = %d)"
			.formatted(Math.max(10, Math.min(100, tasks() / 2000))));
		insert(NAME, 1000, HOUR, HOUR);
		this.jdbc.execute("vacuum analyze timingwheel_task");
		for (int i = 0; i < EXECUTIONS; i++) {
			assertThat(this.store.counts()).containsOnlyKeys(NAME);
		}
		insert(NAME, tasks() / 2, HOUR, HOUR);
		insert(OTHER_NAME, tasks() / 2, HOUR.negated(), HOUR.multipliedBy(2));
		long pages = Objects
			.requireNonNull(this.jdbc.queryForObject("select pg_relation_size('timingwheel_task') / 8192", Long.class));
		this.explained.executions();
		assertThat(this.store.counts()).containsOnlyKeys(NAME, OTHER_NAME);
		long sampled = (long) tasks() * PostgresDialect.SAMPLED_PAGES / pages;
		assertThat(sampled).isLessThan(tasks() / 4);
		assertThat(rowsRead()).isLessThan(2L * RowCounts.MAX_EXACT + sampled * 5 / 4);
	}

	/**
	 * How many rows of the table all statements have read since the latest call.
	 */
	private long rowsRead() {
		return this.explained.executions().stream().mapToLong((each) -> each.rowsRead(TableName.DEFAULT)).sum();
	}

	/**
	 * The store, which records the names of the operations that are used.
	 */
	private static DelayedTaskStore recording(DelayedTaskStore store, Set<String> used) {
		return (DelayedTaskStore) Proxy.newProxyInstance(PostgresPlanTests.class.getClassLoader(),
				new Class<?>[] { DelayedTaskStore.class }, (proxy, method, arguments) -> {
					used.add(method.getName());
					try {
						return method.invoke(store, arguments);
					}
					catch (InvocationTargetException ex) {
						throw ex.getCause();
					}
				});
	}

	@Test
	void aClaimThatBeganWithAnEmptyTableReadsNoMoreWhenTheTableIsLarge() {
		this.jdbc.execute("vacuum analyze timingwheel_task");
		for (int i = 0; i < EXECUTIONS; i++) {
			claim();
		}
		insert(NAME, tasks(), HOUR, HOUR);
		// The node sees the size with its next claim.
		claim();
		this.explained.executions();
		this.store.enqueueAll(IntStream.range(0, 10).mapToObj((i) -> task(null, Duration.ZERO)).toList());
		assertThat(claim()).hasSize(10);
		areCheap(this.explained.executions());
	}

	@Test
	void aLookThatBeganWithAnEmptyTableReadsNoMoreWhenTheTableIsLarge() {
		this.jdbc.execute("vacuum analyze timingwheel_task");
		ClaimRequest limited = new ClaimRequest("a", Map.of(NAME, new Limit(100, 0)), 100, true, LOOK_AHEAD, LEASE,
				ANY_SIZE, Map.of(NAME, new StartLimits(0, 0, 10_000, 1)));
		for (int i = 0; i < EXECUTIONS; i++) {
			this.store.claim(limited);
		}
		insert(NAME, tasks(), HOUR, HOUR);
		// The node sees the size with its next look.
		this.store.claim(limited);
		this.explained.executions();
		assertThat(this.store.claim(limited).tasks()).isEmpty();
		areCheap(this.explained.executions());
	}

	@Test
	void claimsOfANameWithARateThatBeganWithAnEmptyTableReadNoMoreWhenTheTableIsLarge() {
		assertLimitedClaimsReadNoMore(new StartLimits(0, 0, 1, 10_000));
	}

	@Test
	void claimsOfANameWithALimitForItsKeysThatBeganWithAnEmptyTableReadNoMoreWhenTheTableIsLarge() {
		assertLimitedClaimsReadNoMore(new StartLimits(0, 1, 0, 1));
	}

	@Test
	void claimsOfANameWithALimitThatBeganWithAnEmptyTableReadNoMoreWhenTheTableIsLarge() {
		assertLimitedClaimsReadNoMore(new StartLimits(10_000, 0, 0, 1));
	}

	private void assertLimitedClaimsReadNoMore(StartLimits limits) {
		this.jdbc.execute("vacuum analyze timingwheel_task");
		for (int i = 0; i < EXECUTIONS; i++) {
			useStatementsOfLimits(limits);
		}
		assertThat(this.jdbc.queryForObject("select count(*) from timingwheel_task", Long.class)).isZero();
		insert(NAME, tasks() / 2, HOUR.negated(), HOUR);
		insert(NAME, tasks() / 2, HOUR, HOUR);
		// The node sees the size with its next look.
		useStatementsOfLimits(limits);
		this.explained.executions();
		for (int i = 0; i < EXECUTIONS; i++) {
			useStatementsOfLimits(limits);
		}
		List<Execution> executions = this.explained.executions();
		assertThat(executions.size()).isGreaterThan(100);
		areCheap(executions);
	}

	@Test
	void aClaimReadsNoTasksOfALimitedNameThatWait() {
		assertReadsNoTasksThatWait(new StartLimits(1, 1, 10_000, 1));
	}

	@Test
	void aClaimInOneRequestReadsNoTasksOfALimitedNameThatWait() {
		assertReadsNoTasksThatWait(new StartLimits(1, 0, 0, 1));
	}

	private void assertReadsNoTasksThatWait(StartLimits one) {
		insert(NAME, 1000, HOUR.negated(), HOUR);
		this.jdbc.execute("vacuum analyze timingwheel_task");
		ClaimRequest limited = new ClaimRequest("a", Map.of(NAME, new Limit(100, 0), OTHER_NAME, new Limit(100, 100)),
				100, true, LOOK_AHEAD, LEASE, ANY_SIZE, Map.of(NAME, one));
		for (int i = 0; i < EXECUTIONS; i++) {
			this.store.claim(limited);
		}
		insert(NAME, tasks(), HOUR.negated(), HOUR);
		this.store.claim(limited);
		this.explained.executions();
		String other = this.store.enqueue(task(OTHER_NAME, null, DueTime.after(Duration.ZERO), IfPending.REPLACE, null))
			.id();
		Claimed claimed = this.store.claim(limited);
		assertThat(claimed.tasks()).extracting(LeasedTask::id).containsExactly(other);
		assertThat(claimed.heldBack()).containsExactly(NAME);
		areCheap(this.explained.executions());
	}

	@Test
	void aClaimReadsNoTasksOfOtherNames() {
		// The statistics know one name only, and a small table.
		insert(OTHER_NAME, 1000, HOUR.negated(), HOUR.multipliedBy(2));
		this.jdbc.execute("vacuum analyze timingwheel_task");
		for (int i = 0; i < EXECUTIONS; i++) {
			assertThat(claim()).isEmpty();
		}
		insert(OTHER_NAME, tasksOfAnotherApplication() / 2, HOUR.negated(), HOUR);
		insert(OTHER_NAME, tasksOfAnotherApplication() / 2, Duration.ofSeconds(1), HOUR);
		String own = this.store.enqueue(task(NAME, null, DueTime.after(HOUR), IfPending.REPLACE, null)).id();
		long dueAt = this.store.find(own).orElseThrow().dueAt();
		this.explained.executions();
		assertClaim(Set.of(NAME), 100, 0, dueAt);
		insert(NAME, 500, Duration.ofMinutes(-2), Duration.ofMinutes(1));
		// A node that has claimed before finds old tasks of others once a second.
		this.store = node();
		assertClaim(Set.of(NAME), 100, 100, -1);
		assertClaim(Set.of(NAME, "second", "third"), 1000, 400, -1);
		assertClaim(Set.of(NAME, "second", "third"), 1000, 0, -1);
	}

	@Test
	void aPageOfThePendingReadsOnlyItsTasks() {
		insert(NAME, tasks() / 2, HOUR, HOUR);
		// All of these are due in the same millisecond.
		insert(NAME, tasks() / 2, HOUR.dividedBy(2), Duration.ofMillis(1));
		insert(OTHER_NAME, tasks() / 2, HOUR.negated(), HOUR.multipliedBy(2));
		this.jdbc.execute("vacuum analyze timingwheel_task");
		this.explained.executions();
		StoredTask.Position after = null;
		for (int i = 0; i < EXECUTIONS; i++) {
			List<StoredTask> page = this.store.pending(new PendingQuery(NAME, after, 100));
			assertThat(page).hasSize(100);
			after = page.get(99).position();
		}
		assertThat(this.explained.executions()).hasSize(EXECUTIONS)
			.allSatisfy((execution) -> assertThat(execution.rowsRead(TableName.DEFAULT)).as(execution::toString)
				.isBetween(100L, 110L));
	}

	@Test
	void theNodesAreReadWithoutTheirTasks() {
		insert(NAME, 1000, HOUR.negated(), HOUR);
		claim();
		for (int i = 0; i < EXECUTIONS; i++) {
			this.store.report(new NodeState("node " + i, true, i));
		}
		this.store.report(new NodeState("node 0", false, 0));
		assertThat(this.explained.executions()).isNotEmpty();
		assertThat(this.store.nodes()).hasSize(EXECUTIONS);
		assertThat(this.explained.executions()).isNotEmpty().allSatisfy((execution) -> {
			assertThat(execution.rowsRead(TableName.DEFAULT)).as(execution::toString).isZero();
			assertThat(execution.pagesRead()).as(execution::toString).isLessThan(PAGES);
		});
	}

	@Test
	void aForecastThatBeganWithASmallTableReadsASampleOfALargeOne() {
		insert(NAME, 1000, HOUR, HOUR);
		insert(OTHER_NAME, 1000, HOUR, HOUR);
		this.jdbc.execute("vacuum analyze timingwheel_task");
		ForecastQuery query = new ForecastQuery(Map.of(NAME, 10_000_000L, OTHER_NAME, 1000L), Duration.ofMinutes(3),
				60);
		for (int i = 0; i < EXECUTIONS; i++) {
			this.store.forecast(query);
		}
		insert(NAME, tasks(), HOUR, HOUR);
		this.explained.executions();
		Map<String, DueCounts> forecast = this.store.forecast(query).names();
		assertThat(sum(forecast.get(NAME))).isPositive();
		assertThat(sum(forecast.get(OTHER_NAME))).isEqualTo(1000);
		assertThat(this.explained.executions()).isNotEmpty()
			.allSatisfy((execution) -> assertThat(execution.rowsRead(TableName.DEFAULT)).as(execution::toString)
				.isLessThan(1100 + tasks() / 100));
	}

	@Test
	void aForecastOfManyTasksReadsASample() {
		insert(NAME, tasks(), HOUR, HOUR);
		insert(OTHER_NAME, 1000, HOUR, HOUR);
		this.jdbc.execute("vacuum analyze timingwheel_task");
		this.explained.executions();
		Map<String, DueCounts> forecast = this.store
			.forecast(new ForecastQuery(Map.of(NAME, 10_000_000L, OTHER_NAME, 1000L), Duration.ofMinutes(3), 60))
			.names();
		assertThat(forecast.get(NAME).estimated()).isTrue();
		assertThat((double) sum(forecast.get(NAME))).isCloseTo(tasks(), Percentage.withPercentage(45));
		assertThat(forecast.get(OTHER_NAME).estimated()).isFalse();
		assertThat(sum(forecast.get(OTHER_NAME))).isEqualTo(1000);
		assertThat(rowsRead()).isLessThan(1100 + tasks() / 100);
	}

	private static long sum(DueCounts counts) {
		return counts.counts().stream().mapToLong(Long::longValue).sum();
	}

	private void assertClaim(Set<String> names, int limit, int expected, long nextAt) {
		Claimed claimed = this.store.claim(new ClaimRequest("a", names, limit, LOOK_AHEAD, LEASE, ANY_SIZE));
		assertThat(claimed.tasks()).hasSize(expected);
		if (nextAt >= 0) {
			assertThat(claimed.nextAt()).isEqualTo(nextAt);
		}
		assertThat(this.explained.executions()).singleElement().satisfies((execution) -> {
			assertThat(execution.rowsRead(TableName.DEFAULT)).as(execution::toString)
				.isLessThanOrEqualTo(10L * expected + 10L * names.size());
			// Of each task the claim reads the row twice, and writes it into each index.
			assertThat(execution.pagesRead()).as(execution::toString)
				.isLessThan(30L * expected + PAGES * (long) names.size());
		});
	}

	/**
	 * While a transaction is open, vacuum cannot remove what has been deleted since.
	 */
	@Test
	void anOpenTransactionMakesNoClaimReadTheTasksThatHaveRun() throws SQLException {
		int batch = 500;
		insert(NAME, tasks() / 4, HOUR.negated(), HOUR.dividedBy(2));
		this.jdbc.execute("vacuum analyze timingwheel_task");
		try (Connection connection = this.pool.getConnection(); Statement statement = connection.createStatement()) {
			connection.setAutoCommit(false);
			connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
			statement.execute("select count(*) from timingwheel_task");
			List<Long> pages = new ArrayList<>();
			long start = System.nanoTime();
			List<LeasedTask> claimed = run(batch);
			while (!claimed.isEmpty()) {
				pages.add(pagesOfClaims());
				claimed = run(batch);
			}
			assertThat(pages).hasSize(tasks() / 4 / batch);
			// Only the sweeps read the entries of the tasks that have run, and a sweep
			// comes once a second at most.
			long sweeps = 1 + Duration.ofNanos(System.nanoTime() - start).toSeconds();
			long first = pages.get(0);
			assertThat(pages).filteredOn((each) -> each >= first + first / 2).hasSizeLessThanOrEqualTo((int) sweeps);
			connection.rollback();
		}
	}

	/**
	 * A claim that leaves room, or finds no task, searches for the next task. The entries
	 * of the tasks that have run are at their due times and at the ends of their leases.
	 */
	@Test
	void anOpenTransactionMakesNoClaimOfFewTasksReadTheTasksThatHaveRun() throws SQLException {
		this.jdbc.execute("vacuum analyze timingwheel_task");
		try (Connection connection = this.pool.getConnection(); Statement statement = connection.createStatement()) {
			connection.setAutoCommit(false);
			connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
			statement.execute("select count(*) from timingwheel_task");
			StartLimits one = new StartLimits(1, 0, 0, 1);
			Map<String, StartLimits> limits = Map.of(NAME, one);
			Map<String, StartLimits> otherLimits = Map.of(OTHER_NAME, one);
			long ofOneTask = pagesOfAClaimThatLeavesRoom();
			long ofNoTask = pagesOfAClaimWithoutTasks(Map.of());
			long ofLook = pagesOfAClaimWithoutTasks(limits);
			long ofBoth = pagesOfAClaimWithoutTasks(otherLimits);
			insert(NAME, tasks(), HOUR.negated(), HOUR.dividedBy(2));
			// The store does not know of these tasks until its next sweep.
			AtomicInteger left = new AtomicInteger(tasks());
			await().atMost(Duration.ofMinutes(2)).pollInterval(Duration.ofMillis(1)).until(() -> {
				this.explained.executions();
				return left.addAndGet(-run(500).size()) == 0;
			});
			assertThat(pagesOfAClaimThatLeavesRoom()).isLessThan(2 * ofOneTask + PAGES);
			assertThat(pagesOfAClaimWithoutTasks(Map.of())).isLessThan(2 * ofNoTask + PAGES);
			assertThat(pagesOfAClaimWithoutTasks(limits)).isLessThan(2 * ofLook + PAGES);
			assertThat(pagesOfAClaimWithoutTasks(otherLimits)).isLessThan(2 * ofBoth + PAGES);
			connection.rollback();
		}
	}

	/**
	 * How many pages a claim of one task reads, if the claim is no sweep.
	 */
	private long pagesOfAClaimThatLeavesRoom() {
		long least = Long.MAX_VALUE;
		for (int i = 0; i < EXECUTIONS; i++) {
			enqueue(null, Duration.ZERO);
			this.explained.executions();
			assertThat(run(1, 500)).hasSize(1);
			least = Math.min(least, pagesOfClaims());
		}
		return least;
	}

	/**
	 * How many pages a claim reads that finds no task, if the claim is no sweep.
	 */
	private long pagesOfAClaimWithoutTasks(Map<String, StartLimits> limits) {
		Map<String, Limit> names = new HashMap<>(Map.of(NAME, new Limit(10, 10)));
		limits.keySet().forEach((name) -> names.put(name, new Limit(10, 0)));
		ClaimRequest request = new ClaimRequest("a", names, 10, true, LOOK_AHEAD, LEASE, ANY_SIZE, limits,
				Duration.ofSeconds(1));
		long least = Long.MAX_VALUE;
		for (int i = 0; i < EXECUTIONS; i++) {
			this.explained.executions();
			assertThat(this.store.claim(request).tasks()).isEmpty();
			least = Math.min(least, this.explained.executions().stream().mapToLong(Execution::pagesRead).sum());
		}
		return least;
	}

	private long pagesOfClaims() {
		return this.explained.executions()
			.stream()
			.filter((execution) -> execution.sql().contains("claimed"))
			.mapToLong(Execution::pagesRead)
			.sum();
	}

	private List<LeasedTask> run(int limit) {
		return run(limit, limit);
	}

	private List<LeasedTask> run(int limit, int room) {
		List<LeasedTask> tasks = this.store
			.claim(new ClaimRequest("a", Map.of(NAME, new Limit(limit, 0)), room, true, LOOK_AHEAD, LEASE, ANY_SIZE))
			.tasks();
		if (!tasks.isEmpty()) {
			assertThat(this.store.acknowledge(tasks.stream().map(LeasedTask::ref).toList())).containsOnly(Reply.DONE);
		}
		return tasks;
	}

	/**
	 * Checks that there are executions, and that all are cheap. Of those that are not the
	 * message has the first few, since plans are long.
	 */
	private static void areCheap(List<Execution> executions) {
		assertThat(executions.size()).isPositive();
		assertThat(executions.stream().filter((each) -> !isCheap(each)).limit(3)).isEmpty();
	}

	/**
	 * A statement is cheap if it searches indexes for a few tasks.
	 */
	private static boolean isCheap(Execution execution) {
		// A statement that stores 60 tasks visits the pages of six indexes for each.
		return !execution.scanTypes(TableName.DEFAULT).contains("Seq Scan")
				&& execution.rowsRead(TableName.DEFAULT) < 500 && execution.pagesRead() < 3000;
	}

	/**
	 * Uses each statement of the store but the one that counts, and leaves the number of
	 * tasks as it was.
	 */
	private void useEachStatement() {
		DelayedTaskStore store = this.store;
		NewTask keyed = task("k", SOON);
		store.enqueue(keyed);
		store.enqueue(task("k", SOON));
		store.enqueue(task("k", SOON, IfPending.KEEP));
		store.enqueueAll(IntStream.range(0, 60).mapToObj((i) -> task("k" + i, SOON)).toList());
		store.enqueueAll(IntStream.range(0, 60).mapToObj((i) -> task("k" + i, SOON)).toList());
		store.enqueueAll(List.of(task("k", SOON, IfPending.KEEP), task("new", SOON, IfPending.KEEP)));
		store.enqueue(task("k", SOON, IfPending.UPDATE));
		store.enqueueAll(List.of(task("k", SOON, IfPending.UPDATE), task("new", SOON, IfPending.UPDATE)));
		store.enqueue(withMaxWait("k"));
		store.enqueueAll(List.of(withMaxWait("k"), withMaxWait("new")));
		assertThat(store.enqueueShared(List.of(task("k", SOON)))).hasSize(1);
		assertThat(store.enqueueShared(IntStream.range(0, 60).mapToObj((i) -> task("k" + i, SOON)).toList()))
			.hasSize(60);
		assertThat(store.find(key("k"))).isPresent();
		assertThat(store.reschedule(key("k"), DueTime.after(SOON), null)).isNotNull();
		String id = store.find(key("k")).orElseThrow().id();
		assertThat(store.find(id)).isPresent();
		assertThat(store.reschedule(id, DueTime.after(SOON), OFFER)).isNotNull();
		assertThat(store.cancel(id)).isTrue();
		assertThat(store.cancel(key("new"))).isTrue();
		assertThat(store.cancel(key("new"))).isFalse();
		assertThat(store.pending(NAME, 20)).hasSize(20);
		List<TaskRef> claimed = claim().stream().map(LeasedTask::ref).toList();
		assertThat(claimed).hasSize(60);
		assertThat(store.begin(claimed, LEASE)).containsOnly(Reply.DONE);
		assertThat(store.renew(claimed, LEASE)).containsOnly(Reply.DONE);
		assertThat(store.acknowledge(claimed.subList(0, 39))).containsOnly(Reply.DONE);
		assertThat(store.acknowledge(claimed.subList(0, 39))).containsOnly(Reply.DONE);
		assertThat(store.releaseUnstarted(claimed.subList(39, 40))).containsOnly(Reply.DONE);
		assertThat(retry(store, claimed.get(40), 2, SOON)).isEqualTo(Reply.DONE);
		assertThat(release(store, claimed.get(41))).isEqualTo(Reply.DONE);
		List<TaskRef> rest = claimed.subList(42, 60);
		rest.forEach((task) -> assertThat(bury(store, task)).isEqualTo(Reply.DONE));
		assertThat(store.dead(NAME, 20)).hasSize(18);
		List<DeadTask> page = store.dead(new DeadQuery(NAME, true, null, 10)).tasks();
		assertThat(page).hasSize(10);
		assertThat(store.dead(new DeadQuery(NAME, true, page.get(9).position(), 10)).tasks()).hasSize(8);
		assertThat(store.dead(new DeadQuery(NAME, false, page.get(9).position(), 10)).tasks()).hasSize(9);
		List<String> dead = rest.stream().map(TaskRef::id).toList();
		assertThat(store.requeue(dead.get(0))).isEqualTo(Requeue.REQUEUED);
		assertThat(store.requeueAll(dead.subList(1, 5))).containsOnly(Requeue.REQUEUED);
		assertThat(store.discard(dead.get(5))).isTrue();
		assertThat(store.discardAll(dead.subList(6, 10))).isEqualTo(4);
		assertThat(store.discardOlder(Duration.ZERO, 100)).isEqualTo(8);
		List<LeasedTask> again = claim();
		assertThat(again).hasSize(8);
		new TransactionTemplate(new JdbcTransactionManager(this.explained)).executeWithoutResult((status) -> again
			.forEach((task) -> assertThat(task.begun()).isEqualTo(store.acknowledgeInTransaction(task.ref()))));
		List<TaskRef> soon = again.stream().filter((task) -> !task.begun()).map(LeasedTask::ref).toList();
		store.begin(soon, LEASE);
		store.acknowledge(soon);
		store.setPaused(OTHER_NAME, true);
		assertThat(store.pausedNames()).containsExactly(OTHER_NAME);
		store.setPaused(OTHER_NAME, false);
		store.report(new NodeState("a", true, 1));
		store.report(new NodeState("a", true, 2));
		assertThat(store.nodes()).isNotEmpty();
		store.forget("a");
	}

	/**
	 * Loses tasks, and claims while there are suspects. Leaves the number of tasks as it
	 * was.
	 */
	private void useStatementsOfSuspects() {
		DelayedTaskStore store = this.store;
		store.enqueueAll(IntStream.range(0, 3).mapToObj((i) -> task("k" + i, Duration.ZERO)).toList());
		List<TaskRef> lost = claim().stream().map(LeasedTask::ref).toList();
		assertThat(store.begin(lost, Duration.ZERO)).hasSize(3).containsOnly(Reply.DONE);
		// A claim searches from the earliest due time that its node has stored.
		DueTime past = DueTime.at(Instant.now().minus(HOUR));
		String begun = store.enqueue(task(NAME, null, past, IfPending.REPLACE, null)).id();
		List<LeasedTask> first = claim();
		assertThat(first).extracting(LeasedTask::id).containsExactly(begun);
		assertThat(acknowledge(store, first.get(0).ref())).isEqualTo(Reply.DONE);
		String soon = store.enqueue(task(null, SOON)).id();
		Claimed beside = store
			.claim(new ClaimRequest("a", Map.of(NAME, new Limit(100, 100)), 100, false, LOOK_AHEAD, LEASE, ANY_SIZE));
		assertThat(beside.tasks()).extracting(LeasedTask::id).containsExactly(soon);
		assertThat(store.cancel(soon)).isTrue();
		for (int i = 0; i < 3; i++) {
			LeasedTask suspect = claim().get(0);
			assertThat(suspect.suspect()).isTrue();
			assertThat(begin(store, suspect.ref())).isEqualTo(Reply.DONE);
			assertThat(acknowledge(store, suspect.ref())).isEqualTo(Reply.DONE);
		}
	}

	/**
	 * Runs tasks of a limited name. Some of their runs are lost, and one of these is lost
	 * again. Leaves the number of tasks as it was.
	 */
	private void useStatementsOfLimits(StartLimits limits) {
		this.store
			.enqueueAll(IntStream.range(0, LIMITED + LOST).mapToObj((i) -> task("k" + i, Duration.ZERO)).toList());
		List<TaskRef> lost = claim(limits, false, LOST, LEASE);
		assertThat(lost).hasSize(LOST);
		List<TaskRef> others = claim(limits, false, LIMITED, LEASE);
		assertThat(others).hasSize(LIMITED);
		assertThat(this.store.acknowledge(others)).containsOnly(Reply.DONE);
		assertThat(this.store.begin(lost, Duration.ZERO)).containsOnly(Reply.DONE);
		// This claim makes suspects of the lost tasks.
		claim(limits, false, 1, LEASE).forEach((task) -> assertThat(release(this.store, task)).isEqualTo(Reply.DONE));
		assertThat(claim(limits, true, LIMITED, Duration.ZERO)).hasSize(1);
		for (int i = 0; i < LOST; i++) {
			List<TaskRef> suspect = claim(limits, true, LIMITED, LEASE);
			assertThat(suspect).hasSize(1);
			assertThat(this.store.begin(suspect, LEASE)).containsExactly(Reply.DONE);
			assertThat(this.store.acknowledge(suspect)).containsExactly(Reply.DONE);
		}
	}

	private List<TaskRef> claim(StartLimits limits, boolean suspect, int limit, Duration lease) {
		ClaimRequest request = new ClaimRequest("a", Map.of(NAME, new Limit(limit, 0)), limit, suspect, LOOK_AHEAD,
				lease, ANY_SIZE, Map.of(NAME, limits));
		return this.store.claim(request).tasks().stream().map(LeasedTask::ref).toList();
	}

	/**
	 * Stores, runs and ends schedules. Leaves the number of tasks as it was.
	 */
	private void useStatementsOfSchedules() {
		DelayedTaskStore store = this.store;
		String text = "every 1h";
		String stored = store.recur(schedule("k", text, HOUR)).id();
		store.recur(schedule("k", text, HOUR));
		String id = store.recur(schedule("k", "every 2h", HOUR)).id();
		assertThat(id).isNotEqualTo(stored);
		store.recur(schedule("k", text, HOUR));
		assertThat(store.find(key("k"))).isPresent();
		assertThat(store.reschedule(key("k"), DueTime.after(SOON), null)).isNotNull();
		TaskRef first = begunRun();
		assertThat(store.repeat(List.of(new NextRun(first, text, DueTime.after(SOON), null))))
			.containsExactly(Reply.DONE);
		TaskRef second = begunRun();
		store.recur(schedule("k", "every 2h", SOON));
		new TransactionTemplate(new JdbcTransactionManager(this.explained)).executeWithoutResult(
				(status) -> assertThat(store.repeatInTransaction(new NextRun(second, text, DueTime.after(SOON), null)))
					.isTrue());
		TaskRef third = begunRun();
		assertThat(store.cancel(key("k"))).isTrue();
		assertThat(store.repeat(List.of(new NextRun(third, "every 2h", DueTime.after(SOON), null))))
			.containsExactly(Reply.DONE);
		assertThat(store.find(third.id())).isEmpty();
		store.recur(schedule("k", text, HOUR));
		assertThat(store.cancel(key("k"))).isTrue();
		assertThat(store.cancel(store.recur(schedule("k", text, HOUR)).id())).isTrue();
		NewSchedule declared = schedule(DelayedTaskStore.DECLARED_KEY, text, HOUR);
		assertThat(store.restore(declared)).isTrue();
		assertThat(store.restore(declared)).isFalse();
		assertThat(store.cancel(key(DelayedTaskStore.DECLARED_KEY))).isTrue();
		assertThat(store.restore(declared)).isFalse();
		this.jdbc.update("update timingwheel_task_limit set cancelled = 0");
	}

	private TaskRef begunRun() {
		List<LeasedTask> run = claim();
		assertThat(run).hasSize(1);
		assertThat(begin(this.store, run.get(0).ref())).isEqualTo(Reply.DONE);
		return run.get(0).ref();
	}

	private static NewSchedule schedule(String key, String text, Duration first) {
		String id = UUID.randomUUID().toString();
		return new NewSchedule(id, NAME, key, "payload of " + id, null, text, DueTime.after(first));
	}

	private static NewTask withMaxWait(String key) {
		String id = UUID.randomUUID().toString();
		return new NewTask(id, NAME, key, "payload of " + id, null, DueTime.after(SOON), IfPending.REPLACE, HOUR, null);
	}

	/**
	 * Inserts tasks that are due one after another, each with a key of its own.
	 * @param from when the first one is due, from now
	 * @param span how long after the first one the last one is due
	 */
	private void insert(String name, int count, Duration from, Duration span) {
		this.jdbc.update(
				"""
						insert into timingwheel_task (id, name, task_key, pending_key, payload, due_at, next_at, status, fence,
							attempt, deliveries, lost_deliveries, created_at)
						select gen_random_uuid()::text, ?, 'key ' || number, null, '{"v":1,"args":[' || number || ']}', due, due,
							0, 1, 1, 0, 0, due
						from (select number, extract(epoch from now())::bigint * 1000 + ? + number::bigint * 7919 % ? as due
							from generate_series(1, ?) as g (number)) as numbers
						""",
				name, from.toMillis(), span.toMillis(), count);
	}

}

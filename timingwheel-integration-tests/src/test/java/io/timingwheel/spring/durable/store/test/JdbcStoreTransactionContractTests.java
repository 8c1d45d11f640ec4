package io.timingwheel.spring.durable.store.test;

import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import com.zaxxer.hikari.HikariDataSource;
import io.timingwheel.spring.durable.jdbc.JdbcDelayedTaskStore;
import io.timingwheel.spring.durable.jdbc.JdbcStores;
import io.timingwheel.spring.durable.jdbc.TestDatabase;
import io.timingwheel.spring.durable.store.ClaimRequest;
import io.timingwheel.spring.durable.store.ClaimRequest.Claimed;
import io.timingwheel.spring.durable.store.ClaimRequest.Share;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Enqueued;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Enqueued.Outcome;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Requeue;
import io.timingwheel.spring.durable.store.DueTime;
import io.timingwheel.spring.durable.store.LeasedTask;
import io.timingwheel.spring.durable.store.LeasedTask.TaskRef;
import io.timingwheel.spring.durable.store.ListQuery.Order;
import io.timingwheel.spring.durable.store.NewTask;
import io.timingwheel.spring.durable.store.Settlement;
import io.timingwheel.spring.durable.store.StartLimits;
import io.timingwheel.spring.durable.store.StoredCounts;
import io.timingwheel.spring.durable.store.StoredTask;
import io.timingwheel.spring.durable.store.Target;
import io.timingwheel.spring.task.IfPending;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

/**
 * The contract of a store in a database for callers that use transactions, with the
 * database's own clock.
 */
abstract class JdbcStoreTransactionContractTests extends StoreContract {

	static final Executor THREADS = (task) -> new Thread(task).start();

	private final TestDatabase database;

	final HikariDataSource pool;

	private final TransactionTemplate transaction;

	private final TransactionTemplate repeatable;

	DelayedTaskStore store;

	private DelayedTaskStore other;

	JdbcStoreTransactionContractTests(TestDatabase database) {
		this.database = database;
		this.pool = database.pool(getClass());
		this.transaction = new TransactionTemplate(new JdbcTransactionManager(this.pool));
		this.repeatable = new TransactionTemplate(new JdbcTransactionManager(this.pool));
		this.repeatable.setIsolationLevel(TransactionDefinition.ISOLATION_REPEATABLE_READ);
	}

	@Override
	protected DelayedTaskStore openStore() {
		return JdbcStores.open(this.pool);
	}

	@BeforeEach
	void useTheClockOfTheDatabase() {
		this.store = this.a.store();
		this.other = this.b.store();
		this.store.testing().setClock(null);
		this.other.testing().setClock(null);
	}

	boolean locksNeighbouringKeys() {
		return false;
	}

	void inTransaction(Runnable calls) {
		this.transaction.executeWithoutResult((status) -> calls.run());
	}

	private void rolledBack(Runnable calls) {
		rolledBack(this.transaction, calls);
	}

	private static void rolledBack(TransactionTemplate transaction, Runnable calls) {
		transaction.executeWithoutResult((status) -> {
			calls.run();
			status.setRollbackOnly();
		});
	}

	private static <T> T elsewhere(Supplier<T> call) {
		return CompletableFuture.supplyAsync(call, THREADS).orTimeout(2, TimeUnit.MINUTES).join();
	}

	private static void elsewhere(Runnable calls) {
		CompletableFuture.runAsync(calls, THREADS).orTimeout(2, TimeUnit.MINUTES).join();
	}

	/**
	 * Gives the other thread time to come to its wait. If it does not, the test finds
	 * less.
	 */
	static void assertWaiting(CompletableFuture<?> call) {
		assertThatExceptionOfType(TimeoutException.class).isThrownBy(() -> call.get(300, TimeUnit.MILLISECONDS));
	}

	private long count() {
		StoredCounts counts = this.a.counts();
		return counts.pending() + counts.running() + counts.dead();
	}

	private boolean acknowledgeInTransaction(TaskRef task) {
		return this.store.settleInTransaction(new Settlement.Acknowledge(task));
	}

	// What applications do

	@Test
	void aCallerWhoseKeyIsLockedHoldsUpNoOtherCaller() throws Exception {
		Enqueued before = enqueue("locked", SOON);
		CompletableFuture<Enqueued> waiting = new CompletableFuture<>();
		rolledBack(() -> {
			enqueue("locked", HOUR);
			waiting.completeAsync(() -> enqueue("locked", HOUR), THREADS);
			for (int i = 0; i < 20; i++) {
				Enqueued free = elsewhere(() -> enqueue(null, HOUR));
				assertThat(elsewhere(() -> this.a.has(id(free.id())))).isTrue();
			}
			assertThat(waiting).isNotDone();
		});
		Enqueued stored = waiting.get(1, TimeUnit.MINUTES);
		assertThat(stored.outcome()).isEqualTo(Outcome.REPLACED);
		assertThat(stored.id()).isNotEqualTo(before.id());
		assertThat(count()).isEqualTo(21);
	}

	/**
	 * The first call has stored a key, and the second one has locked a task. H2 does not
	 * notice if they wait for each other.
	 */
	@Test
	void twoCallsWithManyTasksDoNotWaitForEachOther() throws Exception {
		DelayedTaskStore patient = JdbcStores.open(this.database, getClass());
		CompletableFuture<List<Enqueued>> first = new CompletableFuture<>();
		CompletableFuture<List<Enqueued>> second = new CompletableFuture<>();
		inTransaction(() -> {
			enqueue("m", HOUR);
			first.completeAsync(() -> patient.enqueue(keeping("a", "m", "z")), THREADS);
			assertWaiting(first);
			elsewhere(() -> enqueue("z", HOUR));
			second.completeAsync(() -> patient.enqueue(keeping("a", "z")), THREADS);
			assertWaiting(second);
		});
		assertThat(first.get(30, TimeUnit.SECONDS)).hasSize(3);
		assertThat(second.get(30, TimeUnit.SECONDS)).hasSize(2);
		assertThat(count()).isEqualTo(3);
	}

	private static List<NewTask> keeping(String... keys) {
		return Stream.of(keys).map((key) -> task(key, HOUR, IfPending.KEEP)).toList();
	}

	/**
	 * The outer transaction lets MariaDB keep the former entry of the key in its index.
	 */
	@Test
	void aKeyThatIsTakenAgainHoldsUpNoTaskWithoutAKey() {
		LeasedTask running = leased("k");
		this.repeatable.executeWithoutResult((reader) -> {
			assertThat(this.a.has(key("k"))).isTrue();
			elsewhere(() -> {
				assertThat(this.b.begin(running)).isEqualTo(Reply.DONE);
				this.repeatable.executeWithoutResult((status) -> {
					assertThat(enqueue("k", HOUR).outcome()).isEqualTo(Outcome.INSERTED);
					IntStream.range(0, 20).forEach((i) -> elsewhere(() -> enqueue(null, HOUR)));
				});
			});
		});
		assertThat(count()).isEqualTo(22);
	}

	@Test
	void aTaskThatIsGoneLocksNothing() {
		this.repeatable.executeWithoutResult((status) -> {
			Target own = id(enqueue(null, HOUR).id());
			Target gone = id(UUID.randomUUID().toString());
			assertThat(this.a.move(gone, HOUR)).isNull();
			assertThat(this.a.cancel(gone)).isFalse();
			elsewhere(() -> this.other.enqueue(IntStream.range(0, 100).mapToObj((i) -> task(null, HOUR)).toList()));
			assertThat(this.a.move(own, HOUR)).isNotNull();
			assertThat(this.a.cancel(own)).isTrue();
		});
	}

	@Test
	void aRollbackUndoesEverything() {
		List<Enqueued> before = Stream.of("kept", "replaced", "replaced at once", "moved")
			.map((key) -> enqueue(key, SOON))
			.toList();
		rolledBack(() -> {
			enqueue("new", SOON);
			enqueue(null, SOON);
			Enqueued replaced = enqueue("replaced", HOUR);
			assertThat(replaced.outcome()).isEqualTo(Outcome.REPLACED);
			assertThat(this.a.enqueue(task("replaced", SOON, IfPending.UPDATE)).dueAt()).isEqualTo(replaced.dueAt());
			this.store.enqueue(List.of(task("many", SOON), task(null, SOON), task("replaced at once", HOUR)));
			this.store.recur(newSchedule("schedule", HOURLY, SOON));
			assertThat(this.a.has(key("many"))).isTrue();
			assertThat(elsewhere(() -> this.b.has(key("many")))).isFalse();
			assertThat(this.a.cancel(key("kept"))).isTrue();
			assertThat(this.a.move(key("moved"), HOUR)).isNotNull();
		});
		assertThat(this.b.claim()).extracting(LeasedTask::id)
			.containsExactlyInAnyOrderElementsOf(before.stream().map(Enqueued::id).toList());
	}

	/**
	 * The last task is refused, in the second statement. A transaction goes on after it.
	 */
	@Test
	void noneOfManyTasksIsStoredIfOneCannotBe() {
		List<NewTask> tasks = new ArrayList<>(IntStream.range(0, 1_500).mapToObj((i) -> task("k" + i, HOUR)).toList());
		tasks.add(new NewTask("x".repeat(65), NAME, "z", "{}", null, DueTime.after(HOUR), IfPending.REPLACE, null));
		Runnable call = () -> assertThatExceptionOfType(DataAccessException.class)
			.isThrownBy(() -> this.store.enqueue(tasks));
		call.run();
		assertThat(count()).isZero();
		inTransaction(() -> {
			enqueue("before", HOUR);
			call.run();
			enqueue("after", HOUR);
		});
		assertThat(this.a.pending()).extracting(StoredTask::key).containsExactly("before", "after");
	}

	@ParameterizedTest
	@EnumSource
	void anEarlierReadOfTheTransactionDoesNotDecideWhichTaskIsPending(IfPending ifPending) {
		LeasedTask task = leased("k");
		try {
			this.repeatable.executeWithoutResult((status) -> {
				assertThat(this.a.has(key("k"))).isTrue();
				assertThat(elsewhere(() -> this.b.begin(task))).isEqualTo(Reply.DONE);
				assertThat(this.a.enqueue(task("k", HOUR, ifPending)).outcome()).isEqualTo(Outcome.INSERTED);
			});
			assertThat(this.a.pending()).hasSize(1);
		}
		catch (ConcurrencyFailureException ex) {
			// H2 throws this exception, because such a transaction cannot see new rows.
			assertThat(this.a.pending()).isEmpty();
		}
	}

	// What nodes and operators do

	@Test
	void nodesUseTransactionsOfTheirOwn() {
		enqueue("k", NOW);
		rolledBack(() -> {
			assertThat(this.a.acknowledge(this.a.claim().get(0))).isEqualTo(Reply.DONE);
			assertThat(count()).isZero();
			enqueue("l", NOW);
			assertThat(this.a.claim()).isEmpty();
		});
		assertThat(count()).isZero();
	}

	@Test
	void requestsOfOneTaskGoToLimitedNamesAndToOthersInTurns() {
		this.store.enqueue(Stream.of(NAME, NAME, NAME, "other", "other").map((name) -> taskOf(name, NOW)).toList());
		Map<String, Share> shares = Map.of(NAME, new Share(1, 0, new StartLimits(9, 0, 0, 1), null), "other",
				new Share(1, 0));
		assertThat(Stream.generate(() -> this.a.claim(shares, 1).tasks().get(0).name()).limit(5))
			.containsExactly("other", NAME, "other", NAME, NAME);
	}

	@Test
	void aLockedTaskDelaysNoOtherTask() {
		LeasedTask locked = leased("locked");
		LeasedTask free = leased("free");
		enqueue("due", NOW);
		rolledBack(() -> {
			assertThat(this.a.cancel(key("locked"))).isTrue();
			assertThat(this.a.cancel(key("due"))).isTrue();
			elsewhere(() -> {
				assertThat(this.other.begin(List.of(locked.ref(), free.ref()), StoreNode.LEASE))
					.containsExactly(Reply.BUSY, Reply.DONE);
				assertThat(this.b.release(locked)).isEqualTo(Reply.BUSY);
				assertThat(this.b.bury(locked)).isEqualTo(Reply.BUSY);
				assertThat(this.b.claim()).isEmpty();
			});
		});
		assertThat(this.a.begin(locked)).isEqualTo(Reply.DONE);
		// A node finds a task once a second that was locked when its time was searched.
		await().until(() -> this.b.claim().size() == 1);
	}

	@Test
	void aRetryDoesNotWaitForTheTransactionThatStoresANewTaskWithItsKey() {
		LeasedTask older = running("k");
		LeasedTask unrelated = running("l");
		inTransaction(() -> {
			assertThat(enqueue("k", HOUR).outcome()).isEqualTo(Outcome.INSERTED);
			elsewhere(() -> {
				assertThat(this.b.retry(older, HOUR)).isEqualTo(Reply.BUSY);
				assertThat(this.b.retry(unrelated, HOUR)).isIn(Reply.DONE,
						locksNeighbouringKeys() ? Reply.BUSY : Reply.DONE);
			});
		});
		assertThat(this.b.retry(older, HOUR)).isEqualTo(Reply.SUPERSEDED);
	}

	@Test
	void manyRetriesWaitOnlyAFractionOfTheLeaseForTheirKeys() {
		List<NewTask> tasks = IntStream.range(0, 500).mapToObj((i) -> task("k" + i, NOW)).toList();
		this.store.enqueue(tasks);
		List<Settlement> retries = this.store
			.claim(new ClaimRequest("a", Map.of(NAME, new Share(500, 500)), 500, false, StoreNode.LOOK_AHEAD,
					Duration.ofSeconds(2), Long.MAX_VALUE))
			.tasks()
			.stream()
			.<Settlement>map((task) -> new Settlement.Retry(task.ref(), 2, HOUR, "it failed"))
			.toList();
		assertThat(retries).hasSize(500);
		rolledBack(() -> {
			this.store.enqueue(tasks.stream().map((task) -> task(task.key(), HOUR)).toList());
			elsewhere(() -> {
				long start = System.nanoTime();
				assertThat(this.other.settle(retries)).containsOnly(Reply.BUSY);
				// A wait of 100 ms for each key would take 50 seconds.
				assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(30));
			});
		});
		assertThat(this.other.settle(retries)).containsOnly(Reply.DONE);
	}

	@Test
	void aKeyThatATransactionIsStoringKeepsOnlyItsOwnDeadTaskFromBeingRequeued() {
		List<String> ids = new ArrayList<>();
		for (String key : List.of("a", "b", "c", "key", "z")) {
			LeasedTask task = running(key);
			this.a.bury(task);
			ids.add(task.id());
		}
		// H2 waits two seconds for a lock, and a call three for all of them.
		DelayedTaskStore impatient = (this.database == TestDatabase.H2_MEMORY)
				? JdbcStores.open(new DriverManagerDataSource(this.pool.getJdbcUrl() + ";LOCK_TIMEOUT=100"))
				: this.other;
		inTransaction(() -> {
			enqueue("key", HOUR);
			List<Requeue> results = elsewhere(() -> impatient.requeue(ids));
			assertThat(results.get(3)).isEqualTo(Requeue.KEY_PENDING);
			if (!locksNeighbouringKeys()) {
				assertThat(results).filteredOn(Requeue.REQUEUED::equals).hasSize(4);
			}
		});
		// A task that was skipped is dead as before.
		this.store.requeue(ids);
		assertThat(this.a.list(Order.DEAD_LATEST_FIRST)).extracting(StoredTask::id).containsExactly(ids.get(3));
		assertThat(this.a.pending()).hasSize(5);
	}

	/** PostgreSQL searches only about once a second before the tasks that it has seen. */
	@Test
	void aClaimTakesATaskThatIsStoredLongAfterItsTime() {
		assertThat(this.a.claim()).isEmpty();
		Enqueued overdue = this.a.enqueue(task("k", at(this.store.now() - HOUR.toMillis())));
		List<LeasedTask> claimed = new ArrayList<>(this.a.claim());
		if (this.database == TestDatabase.POSTGRESQL) {
			await().until(() -> claimed.addAll(this.a.claim()) || !claimed.isEmpty());
		}
		assertThat(claimed).extracting(LeasedTask::id).containsExactly(overdue.id());
	}

	@Test
	void aClaimOfASuspectAlsoFindsTheRunsWhoseLeasesHaveEnded() {
		running("first");
		this.other.testing().setClock(() -> System.currentTimeMillis() + LEASES_OVER.toMillis());
		assertThat(this.other.claim(this.b.request(NAME)).newSuspects()).isTrue();
		running("second");
		Claimed claimed = this.other.claim(this.b.request(Map.of(NAME, new Share(10, 10)), 10, true));
		assertThat(claimed.tasks()).extracting(LeasedTask::key).containsExactly("first");
		assertThat(claimed.newSuspects()).isTrue();
	}

	@Test
	void aTaskIsAcknowledgedInTheTransactionOfItsBody() {
		long before = this.store.now();
		LeasedTask task = running("k");
		assertThat(task.fence()).as("microseconds").isGreaterThanOrEqualTo(before * 1000);
		TaskRef stale = new TaskRef(task.id(), task.fence() - 1);
		rolledBack(() -> {
			assertThat(acknowledgeInTransaction(stale)).isFalse();
			assertThat(acknowledgeInTransaction(task.ref())).isTrue();
			assertThat(elsewhere(() -> this.b.renew(task))).isEqualTo(Reply.BUSY);
			this.other.testing().setClock(() -> System.currentTimeMillis() + LEASES_OVER.toMillis());
			assertThat(elsewhere(() -> this.b.claim())).isEmpty();
		});
		assertThat(this.a.find(id(task)).deliveries()).isOne();
		inTransaction(() -> assertThat(acknowledgeInTransaction(task.ref())).isTrue());
		assertThat(count()).isZero();
		inTransaction(() -> assertThat(acknowledgeInTransaction(task.ref())).isFalse());
	}

	@Test
	void aTaskThatHasNotBegunIsNotAcknowledgedInATransaction() {
		LeasedTask task = leased("k");
		inTransaction(() -> assertThat(acknowledgeInTransaction(task.ref())).isFalse());
		assertThatIllegalStateException().isThrownBy(() -> acknowledgeInTransaction(task.ref()))
			.withMessageContaining("no transaction on the DataSource");
		assertThat(count()).isOne();
	}

	@Test
	void aScheduleEndsIfItIsCancelledWhileATransactionEndsItsRun() throws Exception {
		for (boolean byKey : List.of(true, false)) {
			LeasedTask run = runningSchedule("k");
			CompletableFuture<Boolean> cancelled = new CompletableFuture<>();
			inTransaction(() -> {
				Settlement end = new Settlement.Repeat(run.ref(), HOURLY, DueTime.after(HOUR), null);
				assertThat(this.store.settleInTransaction(end)).isTrue();
				cancelled.completeAsync(() -> cancelPatiently(byKey ? key("k") : id(run)), THREADS);
				assertWaiting(cancelled);
			});
			assertThat(cancelled.get(1, TimeUnit.MINUTES)).isTrue();
			assertThat(count()).isZero();
		}
	}

	private boolean cancelPatiently(Target target) {
		while (true) {
			try {
				return this.b.cancel(target);
			}
			catch (ConcurrencyFailureException ex) {
				Thread.onSpinWait();
			}
		}
	}

	@Test
	void aTaskThatATransactionMovesToThePastIsFoundSoon() {
		Enqueued task = enqueue("k", HOUR);
		this.a.claim();
		inTransaction(() -> {
			assertThat(this.store.move(key("k"), at(1000))).isNotNull();
			// This claim cannot see the task.
			assertThat(elsewhere(() -> this.a.claim())).isEmpty();
		});
		// A claim searches a name from the beginning about once a second.
		await().untilAsserted(() -> assertThat(this.a.claim()).extracting(LeasedTask::id).containsExactly(task.id()));
	}

	// Data sources

	@Test
	void joinsThroughTheUsualProxies() {
		DataSource lazy = new LazyConnectionDataSourceProxy(this.pool);
		for (DataSource ours : List.of(this.pool, lazy, new TransactionAwareDataSourceProxy(this.pool))) {
			DelayedTaskStore node = JdbcStores.open(ours);
			for (DataSource theirs : List.of(this.pool, lazy, new TransactionAwareDataSourceProxy(lazy))) {
				rolledBack(new TransactionTemplate(new JdbcTransactionManager(theirs)), () -> {
					assertThat(node.joinsTransaction()).isTrue();
					node.enqueue(List.of(task("k", HOUR)));
					assertThat(elsewhere(() -> this.a.has(key("k")))).isFalse();
				});
				assertThat(this.a.has(key("k"))).isFalse();
			}
		}
	}

	@Test
	void doesNotJoinATransactionOnSomethingElse() {
		try (HikariDataSource elsewhere = TestDatabase.newPool(this.pool.getJdbcUrl(), 1)) {
			rolledBack(new TransactionTemplate(new JdbcTransactionManager(elsewhere)), () -> {
				new JdbcTemplate(this.pool).queryForList("select 1");
				assertThat(this.store.joinsTransaction()).isFalse();
				enqueue("k", HOUR);
				assertThat(enqueue("k", HOUR).outcome()).isEqualTo(Outcome.REPLACED);
			});
		}
		assertThat(this.a.has(key("k"))).isTrue();
	}

	/** The transaction manager of JPA also exposes its connection. */
	@Test
	void joinsTheTransactionOfAManagerThatExposesItsConnection() throws Exception {
		try (Connection connection = this.pool.getConnection()) {
			connection.setAutoCommit(false);
			TransactionSynchronizationManager.bindResource(this.pool, new ConnectionHolder(connection));
			TransactionSynchronizationManager.initSynchronization();
			TransactionSynchronizationManager.setActualTransactionActive(true);
			try {
				assertThat(this.store.joinsTransaction()).isTrue();
				enqueue("k", NOW);
				assertThat(this.a.claim()).isEmpty();
				connection.rollback();
				connection.setAutoCommit(true);
			}
			finally {
				TransactionSynchronizationManager.clear();
				TransactionSynchronizationManager.unbindResource(this.pool);
			}
		}
		assertThat(count()).isZero();
	}

	@Test
	void leasesWhileTheApplicationHasUsedUpItsConnections() throws Exception {
		enqueue("k", NOW);
		try (HikariDataSource exhausted = TestDatabase.newPool(this.pool.getJdbcUrl(), 1)) {
			StoreNode node = new StoreNode("c", store(exhausted, this.pool));
			assertThat(node.has(key("k"))).isTrue();
			try (Connection connection = exhausted.getConnection()) {
				LeasedTask task = node.claim().get(0);
				assertThat(node.renew(task)).isEqualTo(Reply.DONE);
				assertThat(node.acknowledge(task)).isEqualTo(Reply.DONE);
			}
		}
	}

	@Test
	void theCheckGoesOnWithoutAConnectionOfTheApplicationIfTheStoreHasItsOwn() {
		DelegatingDataSource application = new DelegatingDataSource();
		assertThatException().isThrownBy(() -> store(application, application).check());
		DelayedTaskStore node = store(application, this.pool);
		node.check();
		assertThatException().isThrownBy(() -> node.enqueue(List.of(task("k", HOUR))))
			.withStackTraceContaining("targetDataSource");
		application.setTargetDataSource(this.pool);
		node.enqueue(List.of(task("k", HOUR)));
		assertThat(this.a.has(key("k"))).isTrue();
	}

	@Test
	void theConnectionsOfTwoTenantsMayHaveDifferentSettings() {
		AtomicReference<String> tenant = new AtomicReference<>();
		AbstractRoutingDataSource routing = new AbstractRoutingDataSource() {

			@Override
			protected String determineCurrentLookupKey() {
				return tenant.get();
			}

		};
		try (HikariDataSource withoutAutoCommit = new HikariDataSource()) {
			withoutAutoCommit.setJdbcUrl(this.pool.getJdbcUrl());
			withoutAutoCommit.setAutoCommit(false);
			routing.setTargetDataSources(Map.of("first", this.pool, "second", withoutAutoCommit));
			routing.afterPropertiesSet();
			DelayedTaskStore node = store(routing, this.pool);
			for (String name : List.of("first", "second")) {
				tenant.set(name);
				node.enqueue(List.of(task(name, HOUR)));
				assertThat(this.a.has(key(name))).as(name).isTrue();
			}
		}
	}

	/**
	 * The clock of a test lets the claim take part in the transaction of the test.
	 * MariaDB also locks the task behind the last one.
	 */
	@ParameterizedTest
	@ValueSource(ints = { 0, 1 })
	void aClaimOfALimitedNameLocksOnlyWhatItBegins(int perKey) {
		this.store.testing().setClock(System::currentTimeMillis);
		StartLimits limits = new StartLimits(50, perKey, 0, 1);
		IntStream.range(0, 20).forEach((i) -> enqueue("running" + i, NOW));
		assertThat(this.a.claim(limits).tasks()).hasSize(20);
		IntStream.range(0, 20).forEach((i) -> enqueue("k" + i, (i < 10) ? NOW : SOON));
		inTransaction(() -> {
			JdbcTemplate others = new JdbcTemplate(new DelegatingDataSource(this.pool));
			for (int begun : List.of(1, 9)) {
				assertThat(this.a.claim(limits, (begun == 1) ? 1 : 100).tasks()).hasSize(begun);
				int free = 20 - begun - begun / 9;
				assertThat(
						others.queryForList("select id from timingwheel_task where status = 0 for update skip locked"))
					.hasSizeBetween((this.database == TestDatabase.MARIADB) ? free - 1 : free, free);
			}
		});
	}

	private static DelayedTaskStore store(DataSource application, DataSource store) {
		return new JdbcDelayedTaskStore(application, store, JdbcStores.TABLE, null);
	}

}

class H2MemoryStoreTransactionTests extends JdbcStoreTransactionContractTests {

	H2MemoryStoreTransactionTests() {
		super(TestDatabase.H2_MEMORY);
	}

}

class PostgresStoreTransactionTests extends JdbcStoreTransactionContractTests {

	PostgresStoreTransactionTests() {
		super(TestDatabase.POSTGRESQL);
	}

	/** One statement stores the second task. Together the tasks take another way. */
	@Test
	void aCallTakesTheKeysOfAllItsTasksInOneOrder() {
		List<NewTask> tasks = List.of(task("a", HOUR, IfPending.KEEP), task("b", HOUR));
		CompletableFuture<Void> call = new CompletableFuture<>();
		inTransaction(() -> {
			enqueue("a", HOUR);
			call.completeAsync(() -> {
				inTransaction(() -> this.store.enqueue(tasks));
				return null;
			}, THREADS);
			assertWaiting(call);
			enqueue("b", HOUR);
		});
		assertThat(call).succeedsWithin(Duration.ofMinutes(1));
	}

	/**
	 * A node takes the time of a claim for the time when it has the reply. If all its
	 * claims are slow, it starts tasks late by the difference.
	 */
	@Test
	@Tag("measuring")
	void theTimeOfAClaimIsThatAfterTheChangeOfTheTasks() {
		try (HikariDataSource pool = TestDatabase.POSTGRESQL.newTaskDatabase()) {
			new JdbcTemplate(pool).execute("""
					create function slow() returns trigger language plpgsql as $$
						begin perform pg_sleep(0.25); return new; end $$;
					create trigger slow before update on timingwheel_task for each row execute function slow()""");
			DelayedTaskStore slow = JdbcStores.open(pool);
			slow.enqueue(List.of(task(null, SOON), task(null, SOON)));
			long before = slow.now();
			Claimed claimed = new StoreNode("a", slow).claim(Map.of(NAME, new Share(10, 10)), 10);
			assertThat(claimed.tasks()).hasSize(2);
			// Two clocks that measure the same time may differ by 50 ms.
			assertThat(claimed.now()).isBetween(before + 2 * 200, slow.now() + 50);
		}
	}

}

@Tag("servers")
class MariaDbStoreTransactionTests extends JdbcStoreTransactionContractTests {

	MariaDbStoreTransactionTests() {
		super(TestDatabase.MARIADB);
	}

	/** InnoDB may lock the gap between two keys. */
	@Override
	boolean locksNeighbouringKeys() {
		return true;
	}

}

package io.timingwheel.spring.durable.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Requeue;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.DueTime;
import io.timingwheel.spring.durable.store.Enqueued.Outcome;
import io.timingwheel.spring.durable.store.Enqueued;
import io.timingwheel.spring.durable.store.LeasedTask;
import io.timingwheel.spring.durable.store.ListQuery.Order;
import io.timingwheel.spring.durable.store.NewSchedule;
import io.timingwheel.spring.durable.store.NewTask;
import io.timingwheel.spring.durable.store.StoredTask;
import io.timingwheel.spring.durable.store.Settlement;
import io.timingwheel.spring.durable.store.Target;
import io.timingwheel.spring.durable.store.TaskRef;
import io.timingwheel.spring.task.IfPending;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * The contract of a store in a database for callers that use transactions.
 */
abstract class JdbcStoreTransactionContractTests extends JdbcStoreTestSupport {

	private static final Executor THREADS = (task) -> new Thread(task).start();

	private final TestDatabase database;

	private final TransactionTemplate transaction;

	JdbcStoreTransactionContractTests(TestDatabase database) {
		super(database);
		this.database = database;
		this.transaction = new TransactionTemplate(new JdbcTransactionManager(this.pool));
	}

	@Test
	void anUpdateAndADebounceSeeTheCallsOfTheirTransactionAndARollbackUndoesThem() {
		Enqueued before = enqueue("k", HOUR);
		this.transaction.executeWithoutResult((status) -> {
			Enqueued replaced = enqueue("k", HOUR.multipliedBy(3));
			assertThat(enqueue(this.store, task("k", HOUR, IfPending.UPDATE)).dueAt()).isEqualTo(replaced.dueAt());
			status.setRollbackOnly();
		});
		assertThat(this.store.find(key("k")).orElseThrow().id()).isEqualTo(before.id());
		Enqueued update = this.transaction
			.execute((status) -> enqueue(this.store, task("k", HOUR.multipliedBy(2), IfPending.UPDATE)));
		assertThat(this.other.find(key("k")).orElseThrow().dueAt()).isEqualTo(before.dueAt());
		assertThat(stored(update.id()).dueAt()).isEqualTo(before.dueAt());
	}

	@Test
	void aCallerWhoseKeyIsLockedHoldsUpNoOtherCaller() throws Exception {
		Enqueued before = enqueue("locked", SOON);
		CompletableFuture<Enqueued> waiting = new CompletableFuture<>();
		this.transaction.executeWithoutResult((status) -> {
			enqueue("locked", HOUR);
			waiting.completeAsync(() -> enqueue(this.store, task("locked", HOUR)), THREADS);
			for (int i = 0; i < 20; i++) {
				Enqueued other = onAnotherThread(() -> enqueue(null, HOUR));
				assertThat(onAnotherThread(() -> this.store.find(Target.of(other.id())))).isPresent();
			}
			assertThat(waiting).isNotDone();
			status.setRollbackOnly();
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
		this.transaction.executeWithoutResult((status) -> {
			enqueue("m", HOUR);
			first.completeAsync(() -> patient.enqueue(keeping("a", "m", "z")), THREADS);
			assertWaiting(first);
			onAnotherThread(() -> enqueue("z", HOUR));
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
	 * Gives the other thread time to come to its wait. If it does not, the test finds
	 * less.
	 */
	private static void assertWaiting(CompletableFuture<?> call) {
		assertThatExceptionOfType(TimeoutException.class).isThrownBy(() -> call.get(300, TimeUnit.MILLISECONDS));
	}

	/**
	 * The other transaction lets MariaDB keep the former entry of the key in its index.
	 */
	@Test
	void aKeyThatIsTakenAgainHoldsUpNoTaskWithoutAKey() {
		LeasedTask running = leased("k");
		TransactionTemplate repeatable = new TransactionTemplate(new JdbcTransactionManager(this.pool));
		repeatable.setIsolationLevel(TransactionDefinition.ISOLATION_REPEATABLE_READ);
		repeatable.executeWithoutResult((reader) -> {
			assertThat(this.store.find(key("k"))).isPresent();
			onAnotherThread(() -> {
				assertThat(begin(this.other, running.ref())).isEqualTo(Reply.DONE);
				repeatable.executeWithoutResult((status) -> {
					assertThat(enqueue("k", HOUR).outcome()).isEqualTo(Outcome.INSERTED);
					for (int i = 0; i < 20; i++) {
						onAnotherThread(() -> enqueue(null, HOUR));
					}
				});
				return null;
			});
		});
		assertThat(count()).isEqualTo(22);
	}

	@Test
	void aRollbackUndoesEverything() {
		Enqueued kept = enqueue("kept", SOON);
		Enqueued replaced = enqueue("replaced", SOON);
		Enqueued replacedAtOnce = enqueue("replaced at once", SOON);
		Enqueued moved = enqueue("moved", SOON);
		this.transaction.executeWithoutResult((status) -> {
			enqueue("new", SOON);
			enqueue(null, SOON);
			assertThat(enqueue("replaced", HOUR).outcome()).isEqualTo(Outcome.REPLACED);
			this.store.enqueue(List.of(task("many", SOON), task(null, SOON), task("replaced at once", HOUR)));
			assertThat(this.store.find(key("many"))).isPresent();
			assertThat(onAnotherThread(() -> this.other.find(key("many")))).isEmpty();
			assertThat(this.store.cancel(key("kept"))).isTrue();
			assertThat(this.store.move(Target.of(moved.id()), DueTime.after(HOUR))).isNotNull();
			status.setRollbackOnly();
		});
		assertThat(claimByOther()).extracting(LeasedTask::id)
			.containsExactlyInAnyOrder(kept.id(), replaced.id(), replacedAtOnce.id(), moved.id());
	}

	@Test
	void noTaskIsStoredIfOneOfManyCannotBeStored() {
		List<NewTask> tasks = refusedInTheSecondStatement();
		assertThatExceptionOfType(DataAccessException.class).isThrownBy(() -> this.store.enqueue(tasks));
		assertThat(count()).isZero();
	}

	@Test
	void noTaskIsStoredIfTheTransactionContinuesAfterOneOfManyCouldNotBeStored() {
		this.transaction.executeWithoutResult((status) -> {
			enqueue("before", HOUR);
			assertThatExceptionOfType(DataAccessException.class)
				.isThrownBy(() -> this.store.enqueue(refusedInTheSecondStatement()));
			enqueue("after", HOUR);
		});
		assertThat(this.store.find(key("before"))).isPresent();
		assertThat(this.store.find(key("after"))).isPresent();
		assertThat(count()).isEqualTo(2);
	}

	private List<NewTask> refusedInTheSecondStatement() {
		List<NewTask> tasks = new ArrayList<>();
		for (int i = 0; i < 1_500; i++) {
			tasks.add(task("k" + i, HOUR));
		}
		tasks.add(task("x".repeat(65), "z", HOUR, IfPending.REPLACE));
		return tasks;
	}

	@Test
	void nodesUseTransactionsOfTheirOwn() {
		enqueue("k", Duration.ZERO);
		this.transaction.executeWithoutResult((status) -> {
			LeasedTask task = claim().get(0);
			assertThat(acknowledge(this.store, task.ref())).isEqualTo(Reply.DONE);
			assertThat(count()).isZero();
			enqueue("l", Duration.ZERO);
			assertThat(claim()).isEmpty();
			status.setRollbackOnly();
		});
		assertThat(count()).isZero();
	}

	@Test
	void aLockedTaskDelaysNoOtherTask() throws Exception {
		LeasedTask locked = leased("locked");
		LeasedTask free = leased("free");
		enqueue("due", Duration.ZERO);
		this.transaction.executeWithoutResult((status) -> {
			assertThat(this.store.cancel(key("locked"))).isTrue();
			assertThat(this.store.cancel(key("due"))).isTrue();
			onAnotherThread(() -> {
				assertThat(this.other.begin(refs(locked, free), LEASE)).containsExactly(Reply.BUSY, Reply.DONE);
				assertThat(release(this.other, locked.ref())).isEqualTo(Reply.BUSY);
				assertThat(bury(this.other, locked.ref())).isEqualTo(Reply.BUSY);
				assertThat(claimByOther()).isEmpty();
				return null;
			});
			status.setRollbackOnly();
		});
		assertThat(begin(this.store, locked.ref())).isEqualTo(Reply.DONE);
		// A node finds a task once a second that was locked when its time was searched.
		await().until(() -> claimByOther().size() == 1);
	}

	@Test
	void aRetryDoesNotWaitForTheTransactionThatStoresANewTaskWithItsKey() {
		LeasedTask older = begun("k");
		LeasedTask unrelated = begun("l");
		this.transaction.executeWithoutResult((status) -> {
			assertThat(enqueue("k", HOUR).outcome()).isEqualTo(Outcome.INSERTED);
			onAnotherThread(() -> {
				assertThat(retry(this.other, older.ref(), 2, HOUR)).isEqualTo(Reply.BUSY);
				assertThat(retry(this.other, unrelated.ref(), 2, HOUR)).isIn(repliesBesideALockedKey());
				return null;
			});
		});
		assertThat(retry(this.other, older.ref(), 2, HOUR)).isEqualTo(Reply.SUPERSEDED);
	}

	/**
	 * What happens to a retry whose key is next to a key that another transaction is
	 * storing.
	 */
	protected Set<Reply> repliesBesideALockedKey() {
		return Set.of(Reply.DONE);
	}

	@Test
	void aKeyThatATransactionIsStoringKeepsOnlyItsOwnDeadTaskFromBeingRequeued() {
		List<String> ids = new ArrayList<>();
		for (String key : List.of("a", "b", "c", "key", "z")) {
			LeasedTask task = begun(key);
			bury(this.store, task.ref());
			ids.add(task.id());
		}
		this.transaction.executeWithoutResult((status) -> {
			enqueue("key", HOUR);
			List<Requeue> results = onAnotherThread(() -> this.other.requeue(ids));
			assertThat(results.get(3)).isEqualTo(Requeue.KEY_PENDING);
			if (!locksNeighbouringKeys()) {
				assertThat(results).filteredOn(Requeue.REQUEUED::equals).hasSize(4);
			}
		});
		// A task that was skipped is dead as before.
		this.store.requeue(ids);
		assertThat(listed(Order.DEAD_OLDEST_FIRST)).extracting(StoredTask::id).containsExactly(ids.get(3));
		assertThat(listed(Order.PENDING)).hasSize(5);
	}

	/**
	 * Whether the database may lock keys that are next to a key that is being stored.
	 */
	boolean locksNeighbouringKeys() {
		return false;
	}

	@Test
	void aTaskIsAcknowledgedInTheTransactionOfItsBody() {
		LeasedTask task = begun("k");
		TaskRef stale = new TaskRef(task.id(), task.fence() - 1);
		this.transaction.executeWithoutResult((status) -> {
			assertThat(this.store.settleInTransaction(new Settlement.Acknowledge(stale))).isFalse();
			assertThat(this.store.settleInTransaction(new Settlement.Acknowledge(task.ref()))).isTrue();
			assertThat(onAnotherThread(() -> this.other.renew(refs(task), LEASE))).containsExactly(Reply.BUSY);
			this.other.testing().setClock(() -> System.currentTimeMillis() + LEASE.multipliedBy(2).toMillis());
			assertThat(onAnotherThread(this::claimByOther)).isEmpty();
			status.setRollbackOnly();
		});
		assertThat(stored(task.id()).deliveries()).isOne();
		this.transaction.executeWithoutResult((
				status) -> assertThat(this.store.settleInTransaction(new Settlement.Acknowledge(task.ref()))).isTrue());
		assertThat(count()).isZero();
		this.transaction.executeWithoutResult(
				(status) -> assertThat(this.store.settleInTransaction(new Settlement.Acknowledge(task.ref())))
					.isFalse());
	}

	@Test
	void aScheduleEndsIfItIsCancelledWhileATransactionEndsItsRun() throws Exception {
		for (boolean byKey : List.of(true, false)) {
			Enqueued schedule = this.store.recur(new NewSchedule(UUID.randomUUID().toString(), NAME, "k", "payload",
					null, "every(PT1H)", DueTime.after(Duration.ZERO), false));
			LeasedTask run = claim().get(0);
			assertThat(run.id()).isEqualTo(schedule.id());
			CompletableFuture<Boolean> cancelled = new CompletableFuture<>();
			this.transaction.executeWithoutResult((status) -> {
				Settlement end = new Settlement.Repeat(run.ref(), "every(PT1H)", DueTime.after(HOUR), null);
				assertThat(this.store.settleInTransaction(end)).isTrue();
				cancelled.completeAsync(() -> cancelPatiently(byKey ? null : run.id()), THREADS);
				assertWaiting(cancelled);
			});
			assertThat(cancelled.get(1, TimeUnit.MINUTES)).isTrue();
			assertThat(this.store.find(key("k"))).isEmpty();
			assertThat(count()).isZero();
		}
	}

	/**
	 * Cancels the schedule with an id, or the one with the key. Tries again if the
	 * database waits no longer for a lock.
	 */
	private boolean cancelPatiently(@Nullable String id) {
		while (true) {
			try {
				return (id != null) ? this.other.cancel(Target.of(id)) : this.other.cancel(key("k"));
			}
			catch (ConcurrencyFailureException ex) {
				Thread.onSpinWait();
			}
		}
	}

	@Test
	void aTaskThatATransactionMovesToThePastIsFoundSoon() {
		Enqueued task = enqueue("k", HOUR);
		claim();
		this.transaction.executeWithoutResult((status) -> {
			assertThat(this.store.move(key("k"), new DueTime(1000, true))).isNotNull();
			// This claim cannot see the task.
			List<LeasedTask> none = onAnotherThread(() -> claim());
			assertThat(none).isEmpty();
		});
		// A claim searches a name from the beginning about once a second.
		await().untilAsserted(() -> assertThat(claim()).extracting(LeasedTask::id).containsExactly(task.id()));
	}

	@Test
	void aTaskThatHasNotBegunIsNotAcknowledgedInATransaction() {
		LeasedTask task = leased("k");
		this.transaction.executeWithoutResult(
				(status) -> assertThat(this.store.settleInTransaction(new Settlement.Acknowledge(task.ref())))
					.isFalse());
		assertThatIllegalStateException()
			.isThrownBy(() -> this.store.settleInTransaction(new Settlement.Acknowledge(task.ref())))
			.withMessageContaining("no transaction on the DataSource");
		assertThat(count()).isOne();
	}

	@Test
	void manyRetriesWaitOnlyAFractionOfTheLeaseForTheirKeys() {
		Duration lease = Duration.ofSeconds(2);
		List<NewTask> tasks = IntStream.range(0, 500).mapToObj((i) -> task("k" + i, Duration.ZERO)).toList();
		this.store.enqueue(tasks);
		List<Settlement> retries = this.store.claim(request("a", 500, lease))
			.tasks()
			.stream()
			.<Settlement>map((task) -> new Settlement.Retry(task.ref(), 2, HOUR, "it failed"))
			.toList();
		assertThat(retries).hasSize(500);
		this.transaction.executeWithoutResult((status) -> {
			this.store.enqueue(tasks.stream().map((task) -> task(task.key(), HOUR)).toList());
			onAnotherThread(() -> {
				long start = System.nanoTime();
				assertThat(this.other.settle(retries)).containsOnly(Reply.BUSY);
				// A wait of 100 ms for each key would take 50 seconds.
				assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(30));
				return null;
			});
			status.setRollbackOnly();
		});
		assertThat(this.other.settle(retries)).containsOnly(Reply.DONE);
	}

	@Test
	void aTaskThatIsGoneLocksNothing() {
		TransactionTemplate repeatable = new TransactionTemplate(new JdbcTransactionManager(this.pool));
		repeatable.setIsolationLevel(TransactionDefinition.ISOLATION_REPEATABLE_READ);
		repeatable.executeWithoutResult((status) -> {
			Enqueued own = enqueue(null, HOUR);
			Target gone = Target.of(UUID.randomUUID().toString());
			assertThat(this.store.move(gone, DueTime.after(HOUR))).isNull();
			assertThat(this.store.cancel(gone)).isFalse();
			onAnotherThread(
					() -> this.other.enqueue(IntStream.range(0, 100).mapToObj((i) -> task(null, HOUR)).toList()));
			assertThat(this.store.move(Target.of(own.id()), DueTime.after(HOUR))).isNotNull();
			assertThat(this.store.cancel(Target.of(own.id()))).isTrue();
		});
	}

	/**
	 * An asynchronous failover takes the tasks back to an earlier state.
	 */
	@Test
	void aFenceThatAFailoverHasLostIsNotUsedAgain() {
		JdbcTemplate jdbc = new JdbcTemplate(this.pool);
		Enqueued task = enqueue("k", Duration.ZERO);
		Map<String, Object> before = jdbc.queryForMap("select * from timingwheel_task where status < 3");
		LeasedTask lost = claim().get(0);
		restore(jdbc, before);
		LeasedTask claimed = claimByOther().get(0);
		assertThat(claimed.id()).isEqualTo(task.id());
		assertThat(claimed.fence()).isNotEqualTo(lost.fence());
		assertThat(begin(this.store, lost.ref())).isEqualTo(Reply.REFUSED);
		assertThat(acknowledge(this.store, lost.ref())).isEqualTo(Reply.REFUSED);

		restore(jdbc, before);
		this.store.move(Target.of(task.id()), DueTime.after(SOON));
		LeasedTask moved = claim().get(0);
		restore(jdbc, before);
		this.store.move(Target.of(task.id()), DueTime.after(SOON));
		LeasedTask movedAgain = claim().get(0);
		assertThat(movedAgain.fence()).isNotIn(moved.fence(), claimed.fence(), lost.fence());
		assertThat(begin(this.store, moved.ref())).isEqualTo(Reply.REFUSED);
		assertThat(begin(this.store, movedAgain.ref())).isEqualTo(Reply.DONE);

		assertThat(bury(this.store, movedAgain.ref())).isEqualTo(Reply.DONE);
		Map<String, Object> dead = jdbc.queryForMap("select * from timingwheel_task where status < 3");
		this.store.requeue(List.of(task.id()));
		LeasedTask requeued = claim().get(0);
		restore(jdbc, dead);
		this.store.requeue(List.of(task.id()));
		assertThat(claim().get(0).fence()).isNotEqualTo(requeued.fence());
	}

	private void restore(JdbcTemplate jdbc, Map<String, Object> row) {
		// A failover takes longer than a millisecond.
		long now = this.store.now();
		await().until(() -> this.store.now() > now);
		// The database computes this column.
		row.remove("queue");
		String columns = String.join(", ", row.keySet());
		String values = String.join(", ", Collections.nCopies(row.size(), "?"));
		jdbc.update("delete from timingwheel_task where status < 3");
		jdbc.update("insert into timingwheel_task (" + columns + ") values (" + values + ")", row.values().toArray());
	}

	@ParameterizedTest
	@EnumSource
	void anEarlierReadOfTheTransactionDoesNotDecideWhichTaskIsPending(IfPending ifPending) {
		TransactionTemplate repeatable = new TransactionTemplate(new JdbcTransactionManager(this.pool));
		repeatable.setIsolationLevel(TransactionDefinition.ISOLATION_REPEATABLE_READ);
		LeasedTask task = leased("k");
		try {
			repeatable.executeWithoutResult((status) -> {
				assertThat(this.store.find(key("k"))).isPresent();
				assertThat(onAnotherThread(() -> begin(this.other, task.ref()))).isEqualTo(Reply.DONE);
				assertThat(enqueue(this.store, task("k", HOUR, ifPending)).outcome()).isEqualTo(Outcome.INSERTED);
			});
			assertThat(listed(Order.PENDING)).hasSize(1);
		}
		catch (ConcurrencyFailureException ex) {
			// H2 throws this exception, because such a transaction cannot see new rows.
			assertThat(listed(Order.PENDING)).isEmpty();
		}
	}

	@Test
	void joinsThroughTheUsualProxies() {
		DataSource lazy = new LazyConnectionDataSourceProxy(this.pool);
		for (DataSource ours : List.of(this.pool, lazy, new TransactionAwareDataSourceProxy(this.pool))) {
			JdbcDelayedTaskStore node = new JdbcDelayedTaskStore(ours, ours, JdbcStores.TABLE, null);
			for (DataSource theirs : List.of(this.pool, lazy, new TransactionAwareDataSourceProxy(lazy))) {
				new TransactionTemplate(new JdbcTransactionManager(theirs)).executeWithoutResult((status) -> {
					assertThat(node.joinsTransaction()).isTrue();
					enqueue(node, task("k", HOUR));
					assertThat(claim(node, "a")).isEmpty();
					status.setRollbackOnly();
				});
				assertThat(node.find(key("k"))).isEmpty();
			}
		}
	}

	@Test
	void doesNotJoinATransactionOnSomethingElse() {
		try (HikariDataSource elsewhere = TestDatabase.newPool(this.pool.getJdbcUrl(), 1)) {
			new TransactionTemplate(new JdbcTransactionManager(elsewhere)).executeWithoutResult((status) -> {
				new JdbcTemplate(this.pool).queryForList("select 1");
				assertThat(this.store.joinsTransaction()).isFalse();
				enqueue("k", HOUR);
				assertThat(enqueue("k", HOUR).outcome()).isEqualTo(Outcome.REPLACED);
				status.setRollbackOnly();
			});
		}
		assertThat(this.store.find(key("k"))).isPresent();
	}

	/**
	 * The transaction manager of JPA also exposes its connection.
	 */
	@Test
	void joinsTheTransactionOfAManagerThatExposesItsConnection() throws Exception {
		try (Connection connection = this.pool.getConnection()) {
			connection.setAutoCommit(false);
			TransactionSynchronizationManager.bindResource(this.pool, new ConnectionHolder(connection));
			TransactionSynchronizationManager.initSynchronization();
			TransactionSynchronizationManager.setActualTransactionActive(true);
			try {
				assertThat(this.store.joinsTransaction()).isTrue();
				enqueue("k", Duration.ZERO);
				assertThat(claim()).isEmpty();
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
		enqueue("k", Duration.ZERO);
		try (HikariDataSource exhausted = TestDatabase.newPool(this.pool.getJdbcUrl(), 1)) {
			JdbcDelayedTaskStore node = new JdbcDelayedTaskStore(exhausted, this.pool, JdbcStores.TABLE, null);
			assertThat(node.find(key("k"))).isPresent();
			try (Connection connection = exhausted.getConnection()) {
				LeasedTask task = claim(node, "a").get(0);
				assertThat(node.renew(refs(task), LEASE)).containsExactly(Reply.DONE);
				assertThat(acknowledge(node, task.ref())).isEqualTo(Reply.DONE);
			}
		}
	}

	@Test
	void theCheckGoesOnWithoutAConnectionOfTheApplicationIfTheStoreHasItsOwn() {
		AtomicBoolean chosen = new AtomicBoolean();
		DataSource router = new DelegatingDataSource(this.pool) {

			@Override
			public Connection getConnection() throws SQLException {
				if (!chosen.get()) {
					throw new IllegalStateException("No tenant");
				}
				return super.getConnection();
			}

		};
		JdbcDelayedTaskStore node = new JdbcDelayedTaskStore(router, this.pool, JdbcStores.TABLE, null);
		node.check(List.of());
		assertThatException().isThrownBy(() -> enqueue(node, task("k", HOUR))).withStackTraceContaining("No tenant");
		chosen.set(true);
		enqueue(node, task("k", HOUR));
		assertThat(this.store.find(key("k"))).isPresent();
		chosen.set(false);
		JdbcDelayedTaskStore alone = new JdbcDelayedTaskStore(router, router, JdbcStores.TABLE, null);
		assertThatException().isThrownBy(() -> alone.check(List.of())).withStackTraceContaining("No tenant");
	}

	private static <T> T onAnotherThread(Callable<T> call) {
		var executor = Executors.newSingleThreadExecutor();
		try {
			return executor.submit(call).get(2, TimeUnit.MINUTES);
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
		finally {
			executor.shutdownNow();
		}
	}

}

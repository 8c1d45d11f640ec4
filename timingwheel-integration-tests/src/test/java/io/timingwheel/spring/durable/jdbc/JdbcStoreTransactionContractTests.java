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

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.timingwheel.spring.durable.ClaimRequest;
import io.timingwheel.spring.durable.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.DelayedTaskStore.Requeue;
import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.DueTime;
import io.timingwheel.spring.durable.Enqueued.Outcome;
import io.timingwheel.spring.durable.Enqueued;
import io.timingwheel.spring.durable.LeasedTask;
import io.timingwheel.spring.durable.NewSchedule;
import io.timingwheel.spring.durable.NewTask;
import io.timingwheel.spring.durable.NextRun;
import io.timingwheel.spring.durable.Rescheduled;
import io.timingwheel.spring.durable.Retry;
import io.timingwheel.spring.durable.StoreTestSupport;
import io.timingwheel.spring.durable.StoredTask;
import io.timingwheel.spring.durable.TaskRef;
import io.timingwheel.spring.durable.TestNode;
import io.timingwheel.spring.durable.TestSettings;
import io.timingwheel.spring.task.DelayedTask;
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
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * The contract of a store in a database for callers that use transactions.
 */
abstract class JdbcStoreTransactionContractTests extends StoreTestSupport {

	private final JdbcNodes nodes;

	private final HikariDataSource pool;

	private final TransactionTemplate transaction;

	JdbcStoreTransactionContractTests(TestDatabase database) {
		this.nodes = new JdbcNodes(database, getClass());
		this.pool = database.pool(getClass());
		this.transaction = new TransactionTemplate(new JdbcTransactionManager(this.pool));
	}

	@Override
	protected void clear() {
		this.nodes.clear();
	}

	@Override
	protected DelayedTaskStore node() {
		return this.nodes.node();
	}

	@Test
	void aPausedNodeGivesBackWhatACommitBrings() throws Exception {
		try (TestNode node = TestNode.start(this.store, (argument, context) -> {
		}, new TestSettings().lookAhead(LOOK_AHEAD))) {
			DelayedTask<?> task = this.transaction.execute((status) -> {
				DelayedTask<?> stored = node.enqueue("k", SOON, 1);
				node.durable().pause();
				return stored;
			});
			// A claim that was under way before the pause may bring the task once more.
			await().until(() -> node.durable().figures().released() >= 1 && node.durable().inFlight() == 0);
			assertThat(stored(task.id()).deliveries()).isZero();
		}
	}

	@Test
	void anUpdateAndADebounceSeeTheCallsOfTheirTransactionAndARollbackUndoesThem() {
		Enqueued before = enqueue("k", HOUR);
		this.transaction.executeWithoutResult((status) -> {
			Enqueued replaced = enqueue("k", HOUR.multipliedBy(3));
			assertThat(this.store.enqueue(task("k", HOUR, IfPending.UPDATE)).dueAt()).isEqualTo(replaced.dueAt());
			status.setRollbackOnly();
		});
		assertThat(this.store.find(key("k")).orElseThrow().id()).isEqualTo(before.id());
		Enqueued update = this.transaction
			.execute((status) -> this.store.enqueue(task("k", HOUR.multipliedBy(2), IfPending.UPDATE)));
		assertThat(this.other.find(key("k")).orElseThrow().dueAt()).isEqualTo(before.dueAt());
		assertThat(stored(update.id()).dueAt()).isEqualTo(before.dueAt());
	}

	@Test
	void tasksStoredInATransactionAreThereOnceItCommits() {
		Enqueued enqueued = this.transaction.execute((status) -> {
			assertThat(this.store.joinsTransaction()).isTrue();
			Enqueued result = enqueue("k", SOON);
			assertThat(this.store.find(key("k"))).isPresent();
			assertThat(onAnotherThread(() -> this.other.find(key("k")))).isEmpty();
			assertThat(onAnotherThread(this::claimByOther)).isEmpty();
			return result;
		});
		assertThat(this.store.joinsTransaction()).isFalse();
		assertThat(claimByOther()).singleElement().extracting(LeasedTask::id).isEqualTo(enqueued.id());
	}

	@Test
	void aSharedRequestWaitsForNoTransactionAndStoresAllTasksOrNone() {
		enqueue("locked", SOON);
		NewTask locked = task("locked", SOON);
		NewTask fine = task(null, SOON);
		NewTask bad = new NewTask(UUID.randomUUID().toString(), NAME, null, "payload", "too long".repeat(10),
				DueTime.after(SOON), IfPending.REPLACE, null);
		assertThat(this.store.enqueueShared(List.of(fine, bad))).isNull();
		assertThat(this.store.find(fine.id())).isEmpty();
		this.transaction.executeWithoutResult((status) -> {
			assertThat(this.store.sharedRequest(fine)).isNull();
			enqueue("locked", HOUR);
			if (onAnotherThread(() -> this.store.sharedRequest(locked)) != null) {
				assertThat(onAnotherThread(() -> this.store.enqueueShared(List.of(fine, locked)))).isNull();
			}
			if (onAnotherThread(() -> this.store.sharedRequest(fine)) != null) {
				assertThat(onAnotherThread(() -> this.store.enqueueShared(List.of(fine)))).hasSize(1);
				assertThat(onAnotherThread(() -> this.store.find(fine.id()))).isPresent();
			}
		});
	}

	@Test
	void aRollbackUndoesEverything() {
		Enqueued kept = enqueue("kept", SOON);
		Enqueued replaced = enqueue("replaced", SOON);
		Enqueued moved = enqueue("moved", SOON);
		this.transaction.executeWithoutResult((status) -> {
			enqueue("new", SOON);
			enqueue(null, SOON);
			assertThat(enqueue("replaced", HOUR).outcome()).isEqualTo(Outcome.REPLACED);
			assertThat(this.store.cancel(key("kept"))).isTrue();
			assertThat(this.store.reschedule(moved.id(), DueTime.after(HOUR), null)).isNotNull();
			status.setRollbackOnly();
		});
		assertThat(claimByOther()).extracting(LeasedTask::id)
			.containsExactlyInAnyOrder(kept.id(), replaced.id(), moved.id());
	}

	@Test
	void tasksThatAreStoredAtOnceTakePartInTheTransaction() {
		Enqueued replaced = enqueue("replaced", SOON);
		this.transaction.executeWithoutResult((status) -> {
			this.store.enqueueAll(List.of(task("new", SOON), task(null, SOON), task("replaced", HOUR)));
			assertThat(this.store.find(key("new"))).isPresent();
			assertThat(onAnotherThread(() -> this.other.find(key("new")))).isEmpty();
			status.setRollbackOnly();
		});
		assertThat(claimByOther()).extracting(LeasedTask::id).containsExactly(replaced.id());
		this.transaction.executeWithoutResult(
				(status) -> this.store.enqueueAll(List.of(task("k", SOON), task("l", SOON), task("k", HOUR))));
		assertThat(this.store.counts().get(NAME).pending()).isEqualTo(3);
	}

	@Test
	void noTaskIsStoredIfOneOfManyCannotBeStored() {
		List<NewTask> tasks = refusedInTheSecondStatement();
		assertThatExceptionOfType(DataAccessException.class).isThrownBy(() -> this.store.enqueueAll(tasks));
		assertThat(this.store.counts()).isEmpty();
		List<NewTask> tooLong = List.of(task("k", HOUR), task("k".repeat(513), HOUR));
		assertThatIllegalArgumentException().isThrownBy(() -> this.store.enqueueAll(tooLong));
		assertThat(this.store.counts()).isEmpty();
	}

	@Test
	void noTaskIsStoredIfTheTransactionContinuesAfterOneOfManyCouldNotBeStored() {
		this.transaction.executeWithoutResult((status) -> {
			enqueue("before", HOUR);
			assertThatExceptionOfType(DataAccessException.class)
				.isThrownBy(() -> this.store.enqueueAll(refusedInTheSecondStatement()));
			enqueue("after", HOUR);
		});
		assertThat(this.store.find(key("before"))).isPresent();
		assertThat(this.store.find(key("after"))).isPresent();
		assertThat(this.store.counts().get(NAME).pending()).isEqualTo(2);
	}

	private List<NewTask> refusedInTheSecondStatement() {
		List<NewTask> tasks = new ArrayList<>();
		for (int i = 0; i < 1_500; i++) {
			tasks.add(task("k" + i, HOUR));
		}
		tasks.add(new NewTask("x".repeat(65), NAME, "z", "", DueTime.after(HOUR), IfPending.REPLACE, null));
		return tasks;
	}

	@ParameterizedTest
	@EnumSource
	void aTransactionContinuesAfterItFoundAPendingTask(IfPending ifPending) {
		enqueue("k", HOUR);
		this.transaction.executeWithoutResult((status) -> {
			Enqueued second = this.store.enqueue(task("k", HOUR, ifPending));
			assertThat(second.outcome()).isEqualTo((ifPending == IfPending.REPLACE || ifPending == IfPending.UPDATE)
					? Outcome.REPLACED : Outcome.PENDING);
			enqueue("l", HOUR);
		});
		assertThat(this.store.find(key("l"))).isPresent();
	}

	@Test
	void nodesUseTransactionsOfTheirOwn() {
		enqueue("k", Duration.ZERO);
		this.transaction.executeWithoutResult((status) -> {
			LeasedTask task = claim().get(0);
			assertThat(acknowledge(this.store, task.ref())).isEqualTo(Reply.DONE);
			assertThat(this.store.counts()).isEmpty();
			enqueue("l", Duration.ZERO);
			assertThat(claim()).isEmpty();
			status.setRollbackOnly();
		});
		assertThat(this.store.counts()).isEmpty();
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
			List<Requeue> results = onAnotherThread(() -> this.other.requeueAll(ids));
			assertThat(results.get(3)).isEqualTo(Requeue.KEY_PENDING);
			if (!locksNeighbouringKeys()) {
				assertThat(results).filteredOn(Requeue.REQUEUED::equals).hasSize(4);
			}
		});
		// A task that was skipped is dead as before.
		this.store.requeueAll(ids);
		assertThat(this.store.dead(NAME, 10)).extracting(StoredTask::id).containsExactly(ids.get(3));
		assertThat(this.store.pending(NAME, 10)).hasSize(5);
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
			assertThat(this.store.acknowledgeInTransaction(stale)).isFalse();
			assertThat(this.store.acknowledgeInTransaction(task.ref())).isTrue();
			assertThat(onAnotherThread(() -> this.other.renew(refs(task), LEASE))).containsExactly(Reply.BUSY);
			clockAhead(LEASE.multipliedBy(2));
			assertThat(onAnotherThread(this::claimByOther)).isEmpty();
			status.setRollbackOnly();
		});
		assertThat(stored(task.id()).deliveries()).isOne();
		this.transaction
			.executeWithoutResult((status) -> assertThat(this.store.acknowledgeInTransaction(task.ref())).isTrue());
		assertThat(this.store.counts()).isEmpty();
		this.transaction
			.executeWithoutResult((status) -> assertThat(this.store.acknowledgeInTransaction(task.ref())).isFalse());
	}

	@Test
	void aScheduleEndsIfItIsCancelledWhileATransactionEndsItsRun() throws Exception {
		Executor threads = (task) -> new Thread(task).start();
		for (boolean byKey : List.of(true, false)) {
			Enqueued schedule = this.store.recur(new NewSchedule(UUID.randomUUID().toString(), NAME, "k", "payload",
					null, "every(PT1H)", DueTime.after(Duration.ZERO)));
			LeasedTask run = claim().get(0);
			assertThat(run.id()).isEqualTo(schedule.id());
			CompletableFuture<Boolean> cancelled = new CompletableFuture<>();
			this.transaction.executeWithoutResult((status) -> {
				NextRun end = new NextRun(run.ref(), "every(PT1H)", DueTime.after(HOUR), null);
				assertThat(this.store.repeatInTransaction(end)).isTrue();
				cancelled.completeAsync(() -> cancelPatiently(byKey ? null : run.id()), threads);
				// The cancel waits for the row. Whether it has come that far decides only
				// what this test can find.
				assertThatExceptionOfType(TimeoutException.class)
					.isThrownBy(() -> cancelled.get(300, TimeUnit.MILLISECONDS));
			});
			assertThat(cancelled.get(1, TimeUnit.MINUTES)).isTrue();
			assertThat(this.store.find(key("k"))).isEmpty();
			assertThat(this.store.counts()).isEmpty();
		}
	}

	/**
	 * Cancels the schedule with an id, or the one with the key. Tries again if the
	 * database waits no longer for a lock.
	 */
	private boolean cancelPatiently(@Nullable String id) {
		while (true) {
			try {
				return (id != null) ? this.other.cancel(id) : this.other.cancel(key("k"));
			}
			catch (ConcurrencyFailureException ex) {
				Thread.onSpinWait();
			}
		}
	}

	@Test
	void aTaskThatATransactionMovesToThePastIsFoundByTheNextClaim() {
		Enqueued task = enqueue("k", HOUR);
		claim();
		this.transaction.executeWithoutResult((status) -> {
			assertThat(this.store.reschedule(key("k"), new DueTime(1000, true), null)).isNotNull();
			// This claim cannot see the task.
			List<LeasedTask> none = onAnotherThread(() -> claim());
			assertThat(none).isEmpty();
		});
		assertThat(claim()).extracting(LeasedTask::id).containsExactly(task.id());
	}

	@Test
	void aTaskThatHasNotBegunIsNotAcknowledgedInATransaction() {
		LeasedTask task = leased("k");
		this.transaction
			.executeWithoutResult((status) -> assertThat(this.store.acknowledgeInTransaction(task.ref())).isFalse());
		assertThatIllegalStateException().isThrownBy(() -> this.store.acknowledgeInTransaction(task.ref()))
			.withMessageContaining("no transaction on the DataSource");
		assertThat(this.store.counts()).isNotEmpty();
	}

	@Test
	void manyRetriesWaitOnlyAFractionOfTheLeaseForTheirKeys() {
		Duration lease = Duration.ofSeconds(2);
		List<NewTask> tasks = IntStream.range(0, 500).mapToObj((i) -> task("k" + i, Duration.ZERO)).toList();
		this.store.enqueueAll(tasks);
		List<Retry> retries = this.store.claim(new ClaimRequest("a", NAMES, 500, LOOK_AHEAD, lease, ANY_SIZE))
			.tasks()
			.stream()
			.map((task) -> new Retry(task.ref(), 2, HOUR, "it failed"))
			.toList();
		assertThat(retries).hasSize(500);
		this.transaction.executeWithoutResult((status) -> {
			this.store.enqueueAll(tasks.stream().map((task) -> task(task.key(), HOUR)).toList());
			onAnotherThread(() -> {
				long start = System.nanoTime();
				assertThat(this.other.retry(retries)).containsOnly(Reply.BUSY);
				// A wait of 100 ms for each key would take 50 seconds.
				assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(30));
				return null;
			});
			status.setRollbackOnly();
		});
		assertThat(this.other.retry(retries)).containsOnly(Reply.DONE);
	}

	@ParameterizedTest
	@EnumSource
	void aTaskThatIsGoneLocksNothing(ById call) {
		TransactionTemplate repeatable = new TransactionTemplate(new JdbcTransactionManager(this.pool));
		repeatable.setIsolationLevel(TransactionDefinition.ISOLATION_REPEATABLE_READ);
		repeatable.executeWithoutResult((status) -> {
			Enqueued own = enqueue(null, HOUR);
			assertThat(call.findsPending(this.store, UUID.randomUUID().toString())).isFalse();
			onAnotherThread(
					() -> this.other.enqueueAll(IntStream.range(0, 100).mapToObj((i) -> task(null, HOUR)).toList()));
			assertThat(call.findsPending(this.store, own.id())).isTrue();
		});
	}

	/**
	 * An asynchronous failover takes the tasks back to an earlier state.
	 */
	@Test
	void aFenceThatAFailoverHasLostIsNotUsedAgain() {
		JdbcTemplate jdbc = new JdbcTemplate(this.pool);
		Enqueued task = enqueue("k", Duration.ZERO);
		Map<String, Object> before = jdbc.queryForMap("select * from timingwheel_task");
		LeasedTask lost = claim().get(0);
		restore(jdbc, before);
		LeasedTask claimed = claimByOther().get(0);
		assertThat(claimed.id()).isEqualTo(task.id());
		assertThat(claimed.fence()).isNotEqualTo(lost.fence());
		assertThat(begin(this.store, lost.ref())).isEqualTo(Reply.REFUSED);
		assertThat(acknowledge(this.store, lost.ref())).isEqualTo(Reply.REFUSED);

		restore(jdbc, before);
		Rescheduled moved = this.store.reschedule(task.id(), DueTime.after(SOON), OFFER);
		restore(jdbc, before);
		Rescheduled movedAgain = this.store.reschedule(task.id(), DueTime.after(SOON), OFFER);
		assertThat(movedAgain.task().fence()).isNotIn(moved.task().fence(), claimed.fence(), lost.fence());
		assertThat(begin(this.store, moved.task().ref())).isEqualTo(Reply.REFUSED);
		assertThat(begin(this.store, movedAgain.task().ref())).isEqualTo(Reply.DONE);

		assertThat(bury(this.store, movedAgain.task().ref())).isEqualTo(Reply.DONE);
		Map<String, Object> dead = jdbc.queryForMap("select * from timingwheel_task");
		this.store.requeue(task.id());
		LeasedTask requeued = claim().get(0);
		restore(jdbc, dead);
		this.store.requeue(task.id());
		assertThat(claim().get(0).fence()).isNotEqualTo(requeued.fence());
	}

	private void restore(JdbcTemplate jdbc, Map<String, Object> row) {
		// A failover takes longer than a millisecond.
		long now = this.store.now();
		await().until(() -> this.store.now() > now);
		String columns = String.join(", ", row.keySet());
		String values = String.join(", ", Collections.nCopies(row.size(), "?"));
		jdbc.update("delete from timingwheel_task");
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
				assertThat(this.store.enqueue(task("k", HOUR, ifPending)).outcome()).isEqualTo(Outcome.INSERTED);
			});
			assertThat(this.store.pending(NAME, 10)).hasSize(1);
		}
		catch (ConcurrencyFailureException ex) {
			// H2 throws this exception, because such a transaction cannot see new rows.
			assertThat(this.store.pending(NAME, 10)).isEmpty();
		}
	}

	@Test
	void joinsThroughTheUsualProxies() {
		DataSource lazy = new LazyConnectionDataSourceProxy(this.pool);
		for (DataSource ours : List.of(this.pool, lazy, new TransactionAwareDataSourceProxy(this.pool))) {
			JdbcDelayedTaskStore node = new JdbcDelayedTaskStore(ours, ours, TableName.DEFAULT);
			for (DataSource theirs : List.of(this.pool, lazy, new TransactionAwareDataSourceProxy(lazy))) {
				new TransactionTemplate(new JdbcTransactionManager(theirs)).executeWithoutResult((status) -> {
					assertThat(node.joinsTransaction()).isTrue();
					node.enqueue(task("k", HOUR));
					assertThat(claim(node, "a", 10).tasks()).isEmpty();
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
		assertThat(this.store.counts()).isEmpty();
	}

	@Test
	void storesThroughConnectionsThatDoNotCommitByThemselves() {
		HikariConfig config = new HikariConfig();
		config.setJdbcUrl(this.pool.getJdbcUrl());
		config.setAutoCommit(false);
		try (HikariDataSource manual = new HikariDataSource(config)) {
			JdbcDelayedTaskStore node = new JdbcDelayedTaskStore(manual, manual, TableName.DEFAULT);
			node.enqueue(task("k", Duration.ZERO));
			assertThat(this.store.find(key("k"))).isPresent();
			LeasedTask task = claim(node, "a", 10).tasks().get(0);
			assertThat(acknowledge(node, task.ref())).isEqualTo(Reply.DONE);
			assertThat(this.store.counts()).isEmpty();
		}
	}

	@Test
	void leasesWhileTheApplicationHasUsedUpItsConnections() throws Exception {
		enqueue("k", Duration.ZERO);
		try (HikariDataSource exhausted = TestDatabase.newPool(this.pool.getJdbcUrl(), 1)) {
			JdbcDelayedTaskStore node = new JdbcDelayedTaskStore(exhausted, this.pool, TableName.DEFAULT);
			assertThat(node.find(key("k"))).isPresent();
			try (Connection connection = exhausted.getConnection()) {
				LeasedTask task = claim(node, "a", 10).tasks().get(0);
				assertThat(node.renew(refs(task), LEASE)).containsExactly(Reply.DONE);
				assertThat(acknowledge(node, task.ref())).isEqualTo(Reply.DONE);
			}
		}
	}

	/**
	 * Many transactions may be the first after the start. If each waited for a second
	 * connection, they could have all connections of the pool and wait for each other.
	 */
	@Test
	void theFirstTransactionAfterTheCheckNeedsOneConnection() {
		try (HikariDataSource single = TestDatabase.newPool(this.pool.getJdbcUrl(), 1)) {
			JdbcDelayedTaskStore node = new JdbcDelayedTaskStore(single, single, TableName.DEFAULT);
			node.check();
			single.setConnectionTimeout(Duration.ofMinutes(1).toMillis());
			new TransactionTemplate(new JdbcTransactionManager(single))
				.executeWithoutResult((status) -> node.enqueue(task("k", HOUR)));
		}
		assertThat(this.store.find(key("k"))).isPresent();
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
		JdbcDelayedTaskStore node = new JdbcDelayedTaskStore(router, this.pool, TableName.DEFAULT);
		node.check();
		assertThatExceptionOfType(DataAccessException.class).isThrownBy(() -> node.enqueue(task("k", HOUR)))
			.withStackTraceContaining("No tenant");
		chosen.set(true);
		node.enqueue(task("k", HOUR));
		assertThat(this.store.find(key("k"))).isPresent();
		chosen.set(false);
		JdbcDelayedTaskStore alone = new JdbcDelayedTaskStore(router, router, TableName.DEFAULT);
		assertThatException().isThrownBy(alone::check).withStackTraceContaining("No tenant");
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

	/**
	 * The calls that name a task by its id.
	 */
	enum ById {

		CANCEL {

			@Override
			boolean findsPending(DelayedTaskStore store, String id) {
				return store.cancel(id);
			}

		},

		RESCHEDULE {

			@Override
			boolean findsPending(DelayedTaskStore store, String id) {
				return store.reschedule(id, DueTime.after(HOUR), null) != null;
			}

		};

		abstract boolean findsPending(DelayedTaskStore store, String id);

	}

}

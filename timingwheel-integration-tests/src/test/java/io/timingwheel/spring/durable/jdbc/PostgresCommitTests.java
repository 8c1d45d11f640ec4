package io.timingwheel.spring.durable.jdbc;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;

import com.zaxxer.hikari.HikariDataSource;
import io.timingwheel.spring.Postgres;
import io.timingwheel.spring.durable.ClaimRequest;
import io.timingwheel.spring.durable.ClaimRequest.Limit;
import io.timingwheel.spring.durable.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.DueTime;
import io.timingwheel.spring.durable.LeasedTask;
import io.timingwheel.spring.durable.NewSchedule;
import io.timingwheel.spring.durable.NextRun;
import io.timingwheel.spring.durable.StartLimits;
import io.timingwheel.spring.durable.StoreTestSupport;
import io.timingwheel.spring.durable.TaskRef;
import io.timingwheel.spring.task.IfPending;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Which changes wait for the disk. The server of the tests has a standby that never
 * answers: a commit that waits for the disk waits for this standby too, until the test
 * ends the wait.
 */
class PostgresCommitTests extends StoreTestSupport {

	private static final Duration POLL = Duration.ofMillis(5);

	private static Postgres server;

	private HikariDataSource pool;

	private JdbcTemplate admin;

	@BeforeAll
	static void start() throws Exception {
		server = new Postgres();
	}

	@AfterAll
	static void stop() throws Exception {
		server.close();
	}

	@Override
	protected void clear() {
		this.admin = new JdbcTemplate(TestDatabase.newPool(server.url(), 1));
		this.pool = TestDatabase
			.withTable(TestDatabase.newPool(server.createDatabase("commits" + System.nanoTime()), 4));
		new JdbcTemplate(this.pool).execute("create table commits (number integer)");
	}

	@Override
	protected DelayedTaskStore node() {
		return new JdbcDelayedTaskStore(this.pool, this.pool, TableName.DEFAULT);
	}

	@AfterEach
	void close() {
		release();
		this.pool.close();
		((HikariDataSource) this.admin.getDataSource()).close();
	}

	@Test
	void whatUsersAreToldWaitsForTheDisk() {
		assertThat(waits(() -> this.store.enqueue(task("k", SOON)))).isTrue();
		assertThat(waits(() -> this.store.enqueueShared(List.of(task(null, SOON), task("l", SOON))))).isTrue();
		assertThat(waits(() -> this.store.enqueueAll(List.of(task("m", SOON), task("n", SOON))))).isTrue();
		assertThat(waits(() -> this.store.enqueue(task("k", HOUR)))).isTrue();
		assertThat(waits(() -> this.store.enqueueShared(List.of(task("k", SOON))))).isTrue();
		assertThat(waits(() -> this.store.enqueue(task("k", SOON, IfPending.UPDATE)))).isTrue();
		assertThat(waits(() -> this.store.reschedule(key("k"), DueTime.after(HOUR), null))).isTrue();
		assertThat(waits(() -> this.store.cancel(key("k")))).isTrue();
	}

	@Test
	void aScheduleAndTheEndOfItsRunWaitForTheDisk() {
		assertThat(waits(() -> recur("every 1h", HOUR))).isTrue();
		assertThat(waits(() -> recur("every 2h", Duration.ZERO))).isTrue();
		TaskRef first = claim().get(0).ref();
		assertThat(waits(() -> assertThat(this.store.repeat(List.of(next(first)))).containsExactly(Reply.DONE)))
			.isTrue();
		TaskRef second = claim().get(0).ref();
		assertThat(waits(() -> inTransaction(() -> this.store.repeatInTransaction(next(second))))).isTrue();
		assertThat(waits(() -> assertThat(this.store.cancel(key("s"))).isTrue())).isTrue();
	}

	private void recur(String schedule, Duration first) {
		this.store.recur(new NewSchedule(UUID.randomUUID().toString(), NAME, "s", "payload", null, schedule,
				DueTime.after(first)));
	}

	private static NextRun next(TaskRef run) {
		return new NextRun(run, "every 2h", DueTime.after(Duration.ZERO), null);
	}

	@Test
	void theEndOfATransactionalBodyWaitsForTheDisk() {
		TaskRef task = begun("k").ref();
		assertThat(waits(() -> inTransaction(() -> this.store.acknowledgeInTransaction(task)))).isTrue();
	}

	private void inTransaction(BooleanSupplier change) {
		new TransactionTemplate(new JdbcTransactionManager(this.pool))
			.executeWithoutResult((status) -> assertThat(change.getAsBoolean()).isTrue());
	}

	/**
	 * The first limit has a statement of its own.
	 */
	@Test
	void aClaimThatBeginsATaskOfALimitedNameWaitsForTheDisk() {
		for (StartLimits limits : List.of(new StartLimits(1, 0, 0, 1), new StartLimits(1, 1, 1, 1))) {
			// The first claim also stores the name.
			enqueue(null, Duration.ZERO);
			assertThat(this.store.acknowledge(List.of(claim(limits)))).containsExactly(Reply.DONE);
			enqueue(null, Duration.ZERO);
			List<TaskRef> begun = new ArrayList<>();
			assertThat(waits(() -> begun.add(claim(limits)))).isTrue();
			assertThat(this.store.acknowledge(begun)).containsExactly(Reply.DONE);
		}
	}

	private TaskRef claim(StartLimits limits) {
		ClaimRequest request = new ClaimRequest("a", Map.of(NAME, new Limit(10, 0)), 10, false, LOOK_AHEAD, LEASE,
				ANY_SIZE, Map.of(NAME, limits));
		return this.store.claim(request).tasks().get(0).ref();
	}

	@Test
	void aBodyRunsOnlyWhileTheDiskHasItsLease() {
		TaskRef leased = leased("k").ref();
		assertThat(waits(() -> begin(this.store, leased))).isTrue();
		assertThat(waits(() -> this.store.renew(List.of(leased), LEASE))).isTrue();
		enqueue(null, Duration.ZERO);
		enqueue(null, SOON);
		assertThat(waits(() -> assertThat(claim()).extracting(LeasedTask::begun).contains(true))).isTrue();
	}

	@Test
	void leasesAndAcknowledgementsDoNotWaitForTheDisk() {
		enqueue(null, SOON);
		assertThat(waits(() -> assertThat(claim()).extracting(LeasedTask::begun).containsExactly(false))).isFalse();
		TaskRef first = begun("k").ref();
		TaskRef second = begun("l").ref();
		assertThat(waits(() -> assertThat(this.store.acknowledge(List.of(first, second))).containsOnly(Reply.DONE)))
			.isFalse();
		assertThat(waits(this::claim)).isFalse();
	}

	@Test
	void aChangeOfAFailedTaskWaitsForTheDisk() {
		TaskRef first = begun("k").ref();
		TaskRef second = begun("l").ref();
		TaskRef third = begun("m").ref();
		assertThat(waits(() -> retry(this.store, first, 2, HOUR))).isTrue();
		assertThat(waits(() -> release(this.store, second))).isTrue();
		assertThat(waits(() -> bury(this.store, third))).isTrue();
		assertThat(waits(() -> this.store.requeue(third.id()))).isTrue();
		TaskRef dead = begun("n").ref();
		assertThat(bury(this.store, dead)).isEqualTo(Reply.DONE);
		assertThat(waits(() -> assertThat(this.store.discard(dead.id())).isTrue())).isTrue();
	}

	/**
	 * Makes a change, and tells whether its commit has waited for the disk.
	 */
	private boolean waits(Runnable change) {
		FutureTask<Boolean> task = new FutureTask<>(change, true);
		holdCommits();
		new Thread(task).start();
		try {
			await().pollInterval(POLL).until(() -> task.isDone() || waiting() > 1);
			boolean waits = !task.isDone();
			release();
			task.get(1, TimeUnit.MINUTES);
			return waits;
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	private long waiting() {
		Long waiting = this.admin.queryForObject("select count(*) from pg_stat_activity where wait_event = 'SyncRep'",
				Long.class);
		return (waiting != null) ? waiting : 0;
	}

	/**
	 * From now on each commit that waits for the disk waits until the release. The server
	 * needs a moment for that, so another thread commits until one of its commits waits.
	 */
	private void holdCommits() {
		setStandby("nobody");
		AtomicBoolean held = new AtomicBoolean();
		new Thread(() -> {
			while (!held.get()) {
				new JdbcTemplate(this.pool).update("insert into commits values (1)");
			}
		}).start();
		try {
			await().pollInterval(POLL).until(() -> waiting() == 1);
		}
		finally {
			held.set(true);
		}
	}

	private void release() {
		setStandby("");
		await().pollInterval(POLL).until(() -> waiting() == 0);
	}

	private void setStandby(String name) {
		this.admin.execute("set synchronous_commit = local");
		this.admin.execute("alter system set synchronous_standby_names = '" + name + "'");
		this.admin.queryForObject("select pg_reload_conf()", Boolean.class);
	}

}

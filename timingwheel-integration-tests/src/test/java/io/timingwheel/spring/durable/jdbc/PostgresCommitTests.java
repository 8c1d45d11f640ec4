package io.timingwheel.spring.durable.jdbc;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import com.zaxxer.hikari.HikariDataSource;
import io.timingwheel.spring.Postgres;
import io.timingwheel.spring.durable.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.DueTime;
import io.timingwheel.spring.durable.LeasedTask;
import io.timingwheel.spring.durable.StoreTestSupport;
import io.timingwheel.spring.durable.TaskRef;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.core.JdbcTemplate;

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
		assertThat(waits(() -> this.store.reschedule(key("k"), DueTime.after(HOUR), null))).isTrue();
		assertThat(waits(() -> this.store.cancel(key("k")))).isTrue();
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

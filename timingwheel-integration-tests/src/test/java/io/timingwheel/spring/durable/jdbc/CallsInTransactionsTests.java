package io.timingwheel.spring.durable.jdbc;

import java.time.Duration;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.timingwheel.spring.annotation.CancelDelayed;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.DurableCall;
import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.Schedule;
import io.timingwheel.spring.task.TaskId;
import org.awaitility.Awaitility;
import org.h2.tools.Server;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Durable calls in transactions of an application: which connection stores the task, and
 * how many connections a call takes.
 */
@Tag("servers")
class CallsInTransactionsTests {

	private static final Duration HOUR = Duration.ofHours(1);

	private static final Schedule YEARLY = Schedule.cron("@yearly", ZoneOffset.UTC);

	/**
	 * The transaction of the other pool binds a connection of this pool to the thread.
	 * Nobody commits this connection.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void aConnectionThatIsOnlyReadInAnotherTransactionIsNotTheTransactionOfTheTask(boolean commits) {
		try (HikariDataSource other = TestDatabase.H2_MEMORY.newDatabase()) {
			ApplicationContextRunner runner = DurableApplication.on("jdbc:h2:mem:" + UUID.randomUUID())
				.withBean(Work.class)
				.withPropertyValues("spring.datasource.hikari.auto-commit=false");
			runner.run((context) -> {
				assertThat(context).hasNotFailed();
				Work work = context.getBean(Work.class);
				DelayedTaskOperations operations = context.getBean(DelayedTaskOperations.class);
				JdbcTemplate jdbc = new JdbcTemplate(context.getBean(DataSource.class));
				operations.enqueue(TaskId.of("plain", "cancelled"), HOUR, "cancelled");
				new TransactionTemplate(new JdbcTransactionManager(other)).executeWithoutResult((status) -> {
					assertThat(jdbc.queryForObject("select 1", Integer.class)).isOne();
					work.plain("stored");
					operations.enqueueAll(List.of(DurableCall.of(TaskId.of("plain", "many"), HOUR, "many")));
					operations.recur(TaskId.of("plain", "recurring"), Schedule.every(HOUR), "recurring");
					work.cancel("cancelled");
					if (!commits) {
						status.setRollbackOnly();
					}
				});
				for (String key : List.of("stored", "many", "recurring")) {
					assertThat(operations.find(TaskId.of("plain", key)).isPresent()).as(key).isEqualTo(commits);
				}
				assertThat(operations.find(TaskId.of("plain", "cancelled")).isPresent()).isEqualTo(!commits);
			});
		}
	}

	/** On H2 as a client of a server: the time of a server needs a statement. */
	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void theFirstCallsInATransactionTakeOnlyItsConnection(TestDatabase database) throws Exception {
		Server server = Server.createTcpServer("-tcpPort", "0").start();
		try (HikariDataSource pool = database.newTaskDatabase()) {
			DurableApplication.on(pool.getJdbcUrl().replace("h2:mem", "h2:" + server.getURL() + "/mem"))
				.withBean(Work.class)
				.withPropertyValues("spring.datasource.hikari.maximum-pool-size=1",
						"spring.datasource.hikari.connection-timeout=10000",
						"timingwheel.store.jdbc.initialize-schema=never")
				.run((context) -> {
					assertThat(context).hasNotFailed();
					Work work = context.getBean(Work.class);
					DelayedTaskOperations operations = context.getBean(DelayedTaskOperations.class);
					TransactionTemplate transaction = new TransactionTemplate(
							context.getBean(PlatformTransactionManager.class));
					transaction.executeWithoutResult((status) -> {
						work.transactional("first");
						work.plain("pending");
						work.kept("kept");
						work.kept("kept");
						operations.enqueueAll(List.of(DurableCall.of("plain", HOUR, "a"),
								DurableCall.of(TaskId.of("plain", "b"), HOUR, "b").updating()));
						operations.recur(TaskId.of("plain", "recurring"), YEARLY, "recurring");
						assertThat(operations.reschedule(TaskId.of("plain", "pending"), Duration.ZERO)).isTrue();
						assertThat(operations.find(TaskId.of("plain", "pending"))).isPresent();
						work.cancel("b");
					});
					Awaitility.await()
						.untilAsserted(
								() -> assertThat(work.done()).containsExactlyInAnyOrder("first", "pending", "kept"));
				});
		}
		finally {
			server.stop();
		}
	}

	/**
	 * After its commit the transaction is still bound to the thread. A pool without
	 * auto-commit rolls back what nobody commits.
	 */
	@ParameterizedTest
	@EnumSource(names = { "POSTGRESQL", "MARIADB" })
	void whatIsStoredInCallbacksOfATransactionStays(TestDatabase database) {
		try (HikariDataSource pool = database.newTaskDatabase()) {
			DurableApplication.on(pool.getJdbcUrl())
				.withBean(Work.class)
				.withPropertyValues("spring.datasource.hikari.auto-commit=false",
						"timingwheel.store.jdbc.initialize-schema=never")
				.run((context) -> {
					Work work = context.getBean(Work.class);
					DelayedTaskOperations operations = context.getBean(DelayedTaskOperations.class);
					PlatformTransactionManager manager = context.getBean(PlatformTransactionManager.class);
					for (boolean first : new boolean[] { true, false }) {
						operations.enqueue(TaskId.of("plain", "cancelled"), HOUR, "cancelled");
						new TransactionTemplate(manager).executeWithoutResult((status) -> {
							if (!first) {
								work.plain("within");
							}
							TransactionSynchronizationManager
								.registerSynchronization(new Callbacks(work, manager, first));
						});
						for (String key : List.of("beforeCommit", "beforeCompletion", "afterCommit", "required", "new",
								"afterCompletion")) {
							assertThat(operations.find(TaskId.of("plain", key + first)).isPresent()).as(key)
								.isEqualTo(!first || !key.startsWith("before"));
						}
						assertThat(operations.find(TaskId.of("plain", "cancelled"))).isEmpty();
					}
				});
		}
	}

	private record Callbacks(Work work, PlatformTransactionManager manager,
			boolean onlyAfter) implements TransactionSynchronization {

		@Override
		public void beforeCommit(boolean readOnly) {
			before("beforeCommit");
		}

		@Override
		public void beforeCompletion() {
			before("beforeCompletion");
		}

		private void before(String key) {
			if (!this.onlyAfter) {
				this.work.plain(key + this.onlyAfter);
			}
		}

		@Override
		public void afterCommit() {
			this.work.plain("afterCommit" + this.onlyAfter);
			this.work.cancel("cancelled");
			TransactionTemplate transaction = new TransactionTemplate(this.manager);
			transaction.executeWithoutResult((status) -> this.work.plain("required" + this.onlyAfter));
			transaction.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
			transaction.executeWithoutResult((status) -> this.work.plain("new" + this.onlyAfter));
		}

		@Override
		public void afterCompletion(int status) {
			this.work.plain("afterCompletion" + this.onlyAfter);
		}

	}

	static class Work {

		private final Set<String> done = ConcurrentHashMap.newKeySet();

		Set<String> done() {
			return this.done;
		}

		@Delayed(delay = "0s", name = "transactional", durable = true, transactional = true)
		public void transactional(String text) {
			this.done.add(text);
		}

		@Delayed(delay = "1h", name = "plain", key = "#text", durable = true)
		public void plain(String text) {
			this.done.add(text);
		}

		@Delayed(delay = "0s", name = "kept", key = "#text", durable = true, ifPending = IfPending.KEEP)
		public void kept(String text) {
			this.done.add(text);
		}

		@CancelDelayed(name = "plain", key = "#text")
		public void cancel(String text) {
		}

	}

}

package io.timingwheel.spring.aop.delayed;

import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;

import javax.sql.DataSource;

import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.Timeout;
import io.timingwheel.spring.durable.autoconfigure.TimingWheelStoreAutoConfiguration;
import io.timingwheel.spring.durable.jdbc.autoconfigure.TimingWheelJdbcStoreAutoConfiguration;
import io.timingwheel.spring.durable.node.DurableNode;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.StoredCounts;
import io.timingwheel.spring.task.DelayedTaskContext;
import io.timingwheel.spring.task.DelayedTaskTemplate;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.internal.TaskCounts;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.jdbc.DataSourceBuilder;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.ResourceHolderSupport;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Bodies that commit together with their acknowledgement.
 */
class TransactionalTests {

	private final ApplicationContextRunner withoutManager = DelayedContexts.realTimeRunner()
		.withConfiguration(AutoConfigurations.of(JacksonAutoConfiguration.class, DataSourceAutoConfiguration.class,
				JdbcTemplateAutoConfiguration.class, TimingWheelJdbcStoreAutoConfiguration.class,
				TimingWheelStoreAutoConfiguration.class))
		.withPropertyValues("timingwheel.store.type=jdbc",
				"spring.datasource.url=jdbc:h2:mem:" + UUID.randomUUID()
						+ ";DB_CLOSE_DELAY=-1;INIT=create table if not exists effect (step varchar(40))",
				"timingwheel.store.poll-interval=20ms", "timingwheel.store.backoff.initial=10ms",
				"timingwheel.store.max-attempts=3");

	private final ApplicationContextRunner runner = this.withoutManager.withConfiguration(AutoConfigurations
		.of(DataSourceTransactionManagerAutoConfiguration.class, TransactionAutoConfiguration.class));

	@ParameterizedTest
	@ValueSource(strings = { "plain", "joined" })
	void theBodyAndItsTaskCommitTogether(String name) {
		this.runner.withBean(Bodies.class).run((context) -> {
			context.getBean(Bodies.class).call(name, "work");
			awaitEnd(context);
			assertThat(effects(context)).containsExactly("work");
			assertThat(context.getBean(Bodies.class).seen()).containsExactly("attempt 1: 0 effects, task stored");
			TaskCounts counts = DelayedContexts.counts(context, name);
			assertThat(counts.completed()).isOne();
			assertThat(counts.failed()).isZero();
		});
	}

	@ParameterizedTest
	@ValueSource(strings = { "throw", "throw checked", "rollback-only" })
	void aFailedAttemptLeavesNothingInTheDatabase(String step) {
		for (String name : List.of("plain", "joined")) {
			this.runner.withBean(Bodies.class).run((context) -> {
				context.getBean(Bodies.class).call(name, step);
				awaitEnd(context);
				assertThat(effects(context)).containsExactly(step);
				assertThat(context.getBean(Bodies.class).seen()).containsExactly("attempt 1: 0 effects, task stored",
						"attempt 2: 0 effects, task stored");
				TaskCounts counts = DelayedContexts.counts(context, name);
				assertThat(counts.completed()).isOne();
				assertThat(counts.failed()).isOne();
				new JdbcTemplate(context.getBean(DataSource.class)).update("delete from effect");
			});
		}
	}

	@Test
	void aTaskWhoseAttemptsAllFailIsDeadAndHasNoEffect() {
		this.runner.withBean(Bodies.class).run((context) -> {
			context.getBean(Bodies.class).call("plain", "throw always");
			await().until(() -> counts(context, "plain").dead() == 1);
			assertThat(effects(context)).isEmpty();
			assertThat(context.getBean(Bodies.class).seen()).hasSize(3);
		});
	}

	@Test
	void aTimeoutRollsBack() {
		this.runner.withBean(Bodies.class).run((context) -> {
			context.getBean(Bodies.class).call("timeout", "sleep");
			awaitEnd(context);
			assertThat(effects(context)).containsExactly("sleep");
			assertThat(DelayedContexts.counts(context, "timeout").failed()).isPositive();
		});
	}

	@Test
	void aBodyThatOutlivesItsLeaseRollsBack() {
		this.runner.withBean(Bodies.class).run((context) -> {
			context.getBean(Bodies.class).call("plain", "lose the lease");
			awaitEnd(context);
			assertThat(effects(context)).containsExactly("lose the lease");
			assertThat(context.getBean(Bodies.class).seen()).hasSize(2);
			assertThat(context.getBean(DurableNode.class).figures().lostLeases()).isOne();
			assertThat(DelayedContexts.counts(context, "plain").failed()).isZero();
		});
	}

	@Test
	void anExceptionAfterTheCommitIsNoFailedAttempt() {
		this.runner.withBean(Bodies.class).run((context) -> {
			context.getBean(Bodies.class).call("plain", "throw after the commit");
			awaitEnd(context);
			assertThat(effects(context)).containsExactly("throw after the commit");
			TaskCounts counts = DelayedContexts.counts(context, "plain");
			assertThat(counts.completed()).isOne();
			assertThat(counts.failed()).isZero();
		});
	}

	@Test
	void tasksThatTheBodyStoresAreInItsTransaction() {
		this.runner.withBean(Bodies.class).run((context) -> {
			context.getBean(Bodies.class).call("plain", "enqueue and throw");
			awaitEnd(context);
			assertThat(effects(context)).containsExactlyInAnyOrder("enqueue and throw", "next", "next");
		});
	}

	@Test
	void theManagerOfTheStoredTasksIsUsedAmongSeveral() {
		this.withoutManager.withUserConfiguration(ManagerOfAnotherDatabase.class, OtherKindOfManager.class)
			.withBean(Bodies.class)
			.run((context) -> {
				context.getBean(Bodies.class).call("plain", "throw");
				awaitEnd(context);
				assertThat(effects(context)).containsExactly("throw");
			});
	}

	@Test
	void aMethodMayLeaveTheRuleOfItsClass() {
		this.runner.withBean(RequiredOnTheMethod.class).run((context) -> assertThat(context).hasNotFailed());
	}

	private static void awaitEnd(BeanFactory context) {
		DelayedTaskStore store = context.getBean(DelayedTaskStore.class);
		DurableNode tasks = context.getBean(DurableNode.class);
		await().until(() -> store.counts(List.of()).isEmpty() && tasks.inFlight() == 0);
	}

	private static StoredCounts counts(BeanFactory context, String name) {
		return context.getBean(DelayedTaskStore.class).counts(List.of()).getOrDefault(name, StoredCounts.NONE);
	}

	private static List<String> effects(BeanFactory context) {
		return context.getBean(JdbcTemplate.class).queryForList("select step from effect", String.class);
	}

	static class Bodies {

		private final List<String> seen = new CopyOnWriteArrayList<>();

		private final JdbcTemplate jdbc;

		private final DelayedTaskTemplate tasks;

		Bodies(JdbcTemplate jdbc, DelayedTaskTemplate tasks) {
			this.jdbc = jdbc;
			this.tasks = tasks;
		}

		List<String> seen() {
			return this.seen;
		}

		void call(String name, String step) {
			this.tasks.enqueue(TaskId.of(name, step), Duration.ZERO, step);
		}

		@Delayed(delay = "0s", name = "plain", durable = true, transactional = true)
		void plain(String step) throws Exception {
			run(step);
		}

		@Transactional
		@Delayed(delay = "0s", name = "joined", durable = true, transactional = true)
		void joined(String step) throws Exception {
			run(step);
		}

		@Timeout("1s")
		@Delayed(delay = "0s", name = "timeout", durable = true, transactional = true)
		void timeout(String step) throws Exception {
			run(step);
		}

		private void run(String step) throws Exception {
			int attempt = attempt();
			DelayedTaskContext context = DelayedTaskContext.current().orElseThrow();
			this.seen.add("attempt %d: %d effects, task %s".formatted(attempt,
					this.jdbc.queryForObject("select count(*) from effect where step <> 'next'", Integer.class),
					onAnotherThread("select count(*) from timingwheel_task where status = 1 and id = '" + context.id()
							+ "'") == 1 ? "stored" : "gone"));
			this.jdbc.update("insert into effect (step) values (?)", step);
			boolean first = context.deliveries() == 1;
			switch (step) {
				case "throw", "throw always", "throw checked" -> {
					if (first || step.equals("throw always")) {
						throw step.equals("throw checked") ? new Exception(step) : new IllegalStateException(step);
					}
				}
				case "rollback-only" -> {
					if (first) {
						setRollbackOnly();
					}
				}
				case "sleep" -> {
					if (first) {
						Thread.sleep(60_000);
					}
				}
				case "lose the lease" -> {
					if (first) {
						// As if the lease had ended, and another node had taken the task
						// and died.
						CompletableFuture.runAsync(
								() -> this.jdbc.update("update timingwheel_task set fence = fence + 1, next_at = 0"))
							.get();
					}
				}
				case "throw after the commit" ->
					TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

						@Override
						public void afterCommit() {
							throw new IllegalStateException("after the commit");
						}

					});
				case "enqueue and throw" -> {
					this.tasks.enqueue(TaskId.of("plain", "a" + attempt), Duration.ZERO, "next");
					this.tasks.enqueue(TaskId.of("plain", "b" + attempt), Duration.ZERO, "next");
					if (first) {
						throw new IllegalStateException(step);
					}
				}
				default -> {
				}
			}
		}

		/**
		 * Marks the transaction as rollback-only.
		 */
		private void setRollbackOnly() {
			TransactionSynchronizationManager.getResourceMap()
				.values()
				.stream()
				.filter((resource) -> resource instanceof ResourceHolderSupport)
				.forEach((resource) -> ((ResourceHolderSupport) resource).setRollbackOnly());
		}

		private static int attempt() {
			return DelayedTaskContext.current().orElseThrow().attempt();
		}

		private int onAnotherThread(String sql) throws Exception {
			return CompletableFuture.supplyAsync(() -> this.jdbc.queryForObject(sql, Integer.class)).get();
		}

	}

	@Transactional(propagation = Propagation.NOT_SUPPORTED)
	static class RequiredOnTheMethod {

		@Transactional
		@Delayed(delay = "0s", durable = true, transactional = true)
		void run() {
		}

	}

	/**
	 * A manager that is not known to be one for a data source, as a
	 * {@code JpaTransactionManager}.
	 */
	@Configuration(proxyBeanMethods = false)
	static class OtherKindOfManager {

		@Bean
		PlatformTransactionManager otherKind(DataSource dataSource) {
			JdbcTransactionManager manager = new JdbcTransactionManager(dataSource);
			return new PlatformTransactionManager() {

				@Override
				public TransactionStatus getTransaction(TransactionDefinition definition) {
					return manager.getTransaction(definition);
				}

				@Override
				public void commit(TransactionStatus status) {
					manager.commit(status);
				}

				@Override
				public void rollback(TransactionStatus status) {
					manager.rollback(status);
				}

			};
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class SecondManager {

		@Bean
		PlatformTransactionManager second(DataSource dataSource) {
			return new JdbcTransactionManager(dataSource);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class ManagerOfAnotherDatabase {

		@Primary
		@Bean
		PlatformTransactionManager other() {
			return new JdbcTransactionManager(DataSourceBuilder.create().url("jdbc:h2:mem:other").build());
		}

	}

}

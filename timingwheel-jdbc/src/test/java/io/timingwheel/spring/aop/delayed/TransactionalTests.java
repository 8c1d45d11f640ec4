package io.timingwheel.spring.aop.delayed;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;

import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.Timeout;
import io.timingwheel.spring.durable.node.DurableNode;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.StoredCounts;
import io.timingwheel.spring.task.DelayedTaskContext;
import io.timingwheel.spring.task.DelayedTaskTemplate;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.internal.TaskRecorder.TaskCounts;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.DataSourceBuilder;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.ResourceHolderSupport;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.mockito.AdditionalAnswers.delegatesTo;
import static org.mockito.Mockito.mock;

/** Bodies that commit together with their acknowledgement. */
class TransactionalTests {

	private final ApplicationContextRunner withoutManager = DurableContexts.jdbc(Bodies.class)
		.withConfiguration(AutoConfigurations.of(JdbcTemplateAutoConfiguration.class));

	private final ApplicationContextRunner runner = DurableContexts.withTransactions(this.withoutManager);

	@ParameterizedTest
	@CsvSource(textBlock = """
			plain, work, 1, 0
			joined, work, 1, 0
			plain, throw, 2, 1
			joined, throw, 2, 1
			plain, throw checked, 2, 1
			joined, throw checked, 2, 1
			plain, rollback-only, 2, 1
			joined, rollback-only, 2, 1
			timeout, sleep, 2, 1
			plain, lose the lease, 2, 0
			plain, throw after the commit, 1, 0
			""")
	void theBodyAndItsTaskCommitTogetherOrNotAtAll(String name, String step, int attempts, int failed) {
		this.runner.run((context) -> {
			Bodies bodies = context.getBean(Bodies.class);
			bodies.call(name, step);
			awaitEnd(context);
			assertThat(bodies.effects()).containsExactly(step);
			assertThat(bodies.seen()).hasSize(attempts).allMatch("0 effects, task stored"::equals);
			TaskCounts counts = DelayedContexts.counts(context, name);
			assertThat(counts.completed()).isOne();
			assertThat(counts.failed()).isEqualTo(failed);
			assertThat(context.getBean(DurableNode.class).figures().lostLeases())
				.isEqualTo(step.equals("lose the lease") ? 1 : 0);
		});
	}

	@Test
	void aTaskWhoseAttemptsAllFailIsDeadAndHasNoEffect() {
		this.runner.run((context) -> {
			Bodies bodies = context.getBean(Bodies.class);
			bodies.call("plain", "throw always");
			await().until(() -> context.getBean(DelayedTaskStore.class)
				.counts(List.of())
				.getOrDefault("plain", StoredCounts.NONE)
				.dead() == 1);
			assertThat(bodies.effects()).isEmpty();
			assertThat(bodies.seen()).hasSize(3);
		});
	}

	@Test
	void tasksThatTheBodyStoresAreInItsTransaction() {
		this.runner.run((context) -> {
			context.getBean(Bodies.class).call("plain", "enqueue and throw");
			awaitEnd(context);
			assertThat(context.getBean(Bodies.class).effects()).containsExactlyInAnyOrder("enqueue and throw", "next",
					"next");
		});
	}

	@Test
	void theManagerOfTheStoredTasksIsUsedAmongSeveral() {
		this.withoutManager.withUserConfiguration(ManagerOfAnotherDatabase.class, OtherKindOfManager.class)
			.run((context) -> {
				context.getBean(Bodies.class).call("plain", "throw");
				awaitEnd(context);
				assertThat(context.getBean(Bodies.class).effects()).containsExactly("throw");
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

	static class Bodies {

		private final List<String> seen = new CopyOnWriteArrayList<>();

		private final JdbcTemplate jdbc;

		private final DelayedTaskTemplate tasks;

		Bodies(JdbcTemplate jdbc, DelayedTaskTemplate tasks) {
			this.jdbc = jdbc;
			this.tasks = tasks;
			jdbc.execute("create table effect (step varchar(40))");
		}

		void call(String name, String step) {
			this.tasks.enqueue(TaskId.of(name, step), Duration.ZERO, step);
		}

		List<String> seen() {
			return this.seen;
		}

		List<String> effects() {
			return this.jdbc.queryForList("select step from effect", String.class);
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
			DelayedTaskContext context = DelayedTaskContext.current().orElseThrow();
			boolean first = context.deliveries() == 1;
			this.seen.add("%d effects, task %s".formatted(
					this.jdbc.queryForObject("select count(*) from effect where step <> 'next'", Integer.class),
					CompletableFuture.supplyAsync(() -> this.jdbc.queryForObject(
							"select count(*) from timingwheel_task where status = 1 and id = ?", Integer.class,
							context.id()))
						.get() == 1 ? "stored" : "gone"));
			this.jdbc.update("insert into effect (step) values (?)", step);
			if (step.startsWith("enqueue")) {
				this.tasks.enqueue(TaskId.of("plain", "a" + context.attempt()), Duration.ZERO, "next");
				this.tasks.enqueue(TaskId.of("plain", "b" + context.attempt()), Duration.ZERO, "next");
			}
			if (step.equals("throw after the commit")) {
				TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

					@Override
					public void afterCommit() {
						throw new IllegalStateException("after the commit");
					}

				});
			}
			if (first) {
				fail(step);
			}
			else if (step.equals("throw always")) {
				throw new IllegalStateException(step);
			}
		}

		private void fail(String step) throws Exception {
			switch (step) {
				case "throw", "throw always", "enqueue and throw" -> throw new IllegalStateException(step);
				case "throw checked" -> throw new Exception(step);
				case "rollback-only" -> TransactionSynchronizationManager.getResourceMap()
					.values()
					.stream()
					.filter((resource) -> resource instanceof ResourceHolderSupport)
					.forEach((resource) -> ((ResourceHolderSupport) resource).setRollbackOnly());
				case "sleep" -> Thread.sleep(60_000);
				// As if the lease had ended, and another node had taken the task and
				// died.
				case "lose the lease" -> CompletableFuture
					.runAsync(() -> this.jdbc.update("update timingwheel_task set fence = fence + 1, next_at = 0"))
					.get();
				default -> {
				}
			}
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
			return mock(PlatformTransactionManager.class, delegatesTo(new JdbcTransactionManager(dataSource)));
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

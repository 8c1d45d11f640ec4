package io.timingwheel.spring.aop.delayed;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.Recurring;
import io.timingwheel.spring.autoconfigure.StartFailureLines;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.support.Approved;
import jakarta.persistence.Entity;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.security.task.DelegatingSecurityContextAsyncTaskExecutor;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;

/**
 * Tests that nobody changes what a user reads when a durable method keeps the application
 * from starting, without saying so.
 */
class DurableStartFailureApprovalTests {

	private final ApplicationContextRunner memory = DelayedContexts.runner();

	private final ApplicationContextRunner store = DurableContexts.runner();

	private final ApplicationContextRunner jdbc = DurableContexts.jdbc();

	private final StartFailureLines failures = new StartFailureLines();

	@Test
	void theTextsAreTheApprovedOnes() {
		this.failures.fail("without a store", this.memory, Good.class);
		for (Class<?> bean : List.of(ReturnsFuture.class, ReturnsTaskOfString.class, Aliases.class, TakesEntity.class,
				TakesObjects.class, NotDurable.class, InATransaction.class, BrokenAlias.class)) {
			this.failures.fail(bean.getSimpleName(), this.store, bean);
		}
		this.failures.fail("AliasIsName", this.store, Good.class, AliasIsName.class);
		this.failures.fail("MemoryNameIsAlias", this.store, Good.class, MemoryNameIsAlias.class);
		this.failures.fail("a named method in two beans",
				this.store.withBean("first", InTwoBeans.class).withBean("second", InTwoBeans.class));
		this.failures.fail("an executor that needs its caller",
				this.store.withBean("applicationTaskExecutor", Executor.class,
						() -> new DelegatingSecurityContextAsyncTaskExecutor(new SimpleAsyncTaskExecutor())),
				Good.class);
		String tooLong = "€".repeat(86);
		this.failures.fail("a name that is too long", this.store.withPropertyValues("the.name=" + tooLong),
				Named.class);
		this.failures.fail("a schedule whose name is an alias", this.store.withPropertyValues("the.report=alias"),
				Named.class, Report.class);
		this.failures.fail("no transaction manager", this.jdbc, InATransaction.class);
		this.failures.fail("a transaction manager of another database", this.jdbc, InATransaction.class,
				TransactionalTests.ManagerOfAnotherDatabase.class);
		this.failures.fail("two transaction managers", this.jdbc, InATransaction.class,
				TransactionalTests.OtherKindOfManager.class, TransactionalTests.SecondManager.class);
		for (Class<?> bean : List.of(RequiresNew.class, NotSupportedOnTheClass.class)) {
			this.failures.fail(bean.getSimpleName(), this.jdbc
				.withConfiguration(AutoConfigurations.of(DataSourceTransactionManagerAutoConfiguration.class)), bean);
		}
		Approved.verify(getClass(), "start-failures-methods", this.failures.lines());
	}

	static class Good {

		@Delayed(delay = "1h", name = "good", aliases = { "better", "best" }, durable = true)
		public void run(long id) {
		}

		@Delayed(delay = "1h", durable = true)
		public DelayedTask<Void> unnamed() {
			return DelayedTask.completed(null);
		}

	}

	static class ReturnsFuture {

		@Delayed(delay = "1h", durable = true)
		public CompletableFuture<Void> run() {
			return null;
		}

	}

	static class ReturnsTaskOfString {

		@Delayed(delay = "1h", durable = true)
		public DelayedTask<String> run() {
			return null;
		}

	}

	static class Aliases {

		@Delayed(delay = "1h", aliases = "earlier")
		public void run() {
		}

	}

	static class AliasIsName {

		@Delayed(delay = "1h", name = "other", aliases = "good", durable = true)
		public void run() {
		}

	}

	static class MemoryNameIsAlias {

		@Delayed(delay = "1h", name = "best")
		public void run() {
		}

	}

	static class InTwoBeans {

		@Delayed(delay = "1h", name = "twice", durable = true)
		public void run() {
		}

	}

	static class Named {

		@Delayed(delay = "1h", name = "${the.name:name}", aliases = "${the.alias:alias}", durable = true)
		public void run() {
		}

	}

	static class Report {

		@Recurring(every = "1h", name = "${the.report}", durable = true)
		public void run() {
		}

	}

	static class BrokenAlias {

		@Delayed(delay = "1s", name = "run", aliases = "#{1 +}", durable = true)
		public void run() {
		}

	}

	@Entity
	static class Customer {

	}

	static class TakesEntity {

		@Delayed(delay = "1h", durable = true)
		public void run(long id, Optional<Customer> customer) {
		}

	}

	abstract static class Generic<T> {

		@Delayed(delay = "1h", durable = true)
		public void run(T value, List<T> list, T[] array) {
		}

	}

	static class TakesObjects extends Generic<Object> {

	}

	static class NotDurable {

		@Delayed(delay = "0s", transactional = true)
		void run() {
		}

	}

	static class InATransaction {

		@Delayed(delay = "0s", durable = true, transactional = true)
		void run() {
		}

	}

	static class RequiresNew {

		@Transactional(propagation = Propagation.REQUIRES_NEW)
		@Delayed(delay = "0s", durable = true, transactional = true)
		void run() {
		}

	}

	@Transactional(propagation = Propagation.NOT_SUPPORTED)
	static class NotSupportedOnTheClass {

		@Delayed(delay = "0s", durable = true, transactional = true)
		void run() {
		}

	}

}

package io.timingwheel.spring.aop.delayed;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.function.LongSupplier;

import io.timingwheel.spring.annotation.CancelDelayed;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DelayedTaskTemplate;
import io.timingwheel.spring.task.TaskId;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.interceptor.TransactionAspectSupport;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import static io.timingwheel.spring.aop.delayed.DelayedContexts.advanceAndAwait;
import static io.timingwheel.spring.aop.delayed.DelayedContexts.counts;
import static io.timingwheel.spring.aop.delayed.DelayedContexts.pending;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

class CancelDelayedTests {

	private static final List<String> calls = new CopyOnWriteArrayList<>();

	private final ApplicationContextRunner runner = DelayedContexts.runner().withBean("orders", Orders.class);

	@BeforeEach
	void reset() {
		calls.clear();
	}

	@Test
	void cancelsAfterANormalReturn() {
		this.runner.run((context) -> {
			Orders orders = context.getBean(Orders.class);
			orders.close(1);
			orders.close(2);
			assertThat(orders.pay(1)).isEqualTo("paid");
			assertThat(pending(context)).isOne();
			advanceAndAwait(context, Duration.ofMinutes(31));
			assertThat(calls).containsExactly("pay 1", "close 2");
			assertThat(counts(context, "close-order").cancelled()).isOne();
		});
	}

	@Test
	void cancelsNothingAfterAnException() {
		this.runner.run((context) -> {
			Orders orders = context.getBean(Orders.class);
			orders.close(1);
			assertThatIllegalStateException().isThrownBy(() -> orders.fail(1));
			assertThat(pending(context)).isOne();
		});
	}

	@Test
	void cancelsBeforeTheInvocationHoweverItEnds() {
		this.runner.run((context) -> {
			Orders orders = context.getBean(Orders.class);
			orders.close(1);
			assertThatIllegalStateException().isThrownBy(() -> orders.failAfterwards(1, () -> pending(context)));
			assertThat(calls).containsExactly("pending 0");
		});
	}

	@Test
	void anAbsentKeyIsNoError() {
		this.runner.run((context) -> assertThat(context.getBean(Orders.class).pay(1)).isEqualTo("paid"));
	}

	@Test
	void aNullKeyIsAnErrorOfTheCallerAndTheMethodIsNotCalled() {
		this.runner.run((context) -> {
			assertThatIllegalArgumentException().isThrownBy(() -> context.getBean(Orders.class).payBoxed(null))
				.withMessageContaining("must not be null");
			assertThat(calls).isEmpty();
		});
	}

	@Test
	void cancelsAfterTheNormalCompletionOfAFuture() {
		this.runner.run((context) -> {
			Orders orders = context.getBean(Orders.class);
			CompletableFuture<String> payment = new CompletableFuture<>();
			orders.close(1);
			assertThat(orders.payLater(1, payment)).isSameAs(payment);
			assertThat(pending(context)).isOne();
			payment.complete("paid");
			assertThat(pending(context)).isZero();
		});
	}

	@Test
	void cancelsNothingWhenTheFutureFails() {
		this.runner.run((context) -> {
			Orders orders = context.getBean(Orders.class);
			CompletableFuture<String> payment = new CompletableFuture<>();
			orders.close(1);
			orders.payLater(1, payment);
			payment.completeExceptionally(new IllegalStateException());
			CompletableFuture<String> cancelled = new CompletableFuture<>();
			orders.payLater(1, cancelled);
			cancelled.cancel(true);
			assertThat(pending(context)).isOne();
		});
	}

	@Test
	void cancelsAfterTheNormalCompletionOfAPlainFuture() {
		this.runner.run((context) -> {
			Orders orders = context.getBean(Orders.class);
			orders.close(1);
			orders.close(2);
			FutureTask<String> failing = new FutureTask<>(() -> {
				throw new IllegalStateException();
			});
			FutureTask<String> succeeding = new FutureTask<>(() -> "paid");
			orders.payPlain(1, failing);
			orders.payPlain(2, succeeding);
			assertThat(pending(context)).isEqualTo(2);
			failing.run();
			succeeding.run();
			await().untilAsserted(() -> assertThat(pending(context)).isOne());
			advanceAndAwait(context, Duration.ofMinutes(31));
			assertThat(calls).containsExactly("close 1");
		});
	}

	@Test
	void cancelsAfterTheCommitOfATransaction() {
		this.runner.withUserConfiguration(TransactionConfiguration.class).run((context) -> {
			Orders orders = context.getBean(Orders.class);
			orders.close(1);
			orders.payInTransaction(1, () -> pending(context), false);
			assertThat(calls).containsExactly("before commit: 1");
			assertThat(pending(context)).isZero();
		});
	}

	@Test
	void cancelsNothingAfterARollback() {
		this.runner.withUserConfiguration(TransactionConfiguration.class).run((context) -> {
			Orders orders = context.getBean(Orders.class);
			orders.close(1);
			orders.payInTransaction(1, () -> pending(context), true);
			assertThat(pending(context)).isOne();
			assertThatIllegalStateException().isThrownBy(() -> orders.failInTransaction(1));
			assertThat(pending(context)).isOne();
		});
	}

	@Test
	void aFutureThatIsDoneAtItsReturnCancelsLikeANormalReturn() {
		this.runner.withUserConfiguration(TransactionConfiguration.class).run((context) -> {
			Orders orders = context.getBean(Orders.class);
			TransactionTemplate transaction = context.getBean(TransactionTemplate.class);
			FutureTask<String> done = new FutureTask<>(() -> "paid");
			done.run();
			for (Future<String> payment : List.of(CompletableFuture.completedFuture("paid"), done)) {
				DelayedTask<?> earlier = orders.closeLater(1);
				DelayedTask<?> later = transaction.execute((status) -> {
					orders.payWithin(1, payment);
					return orders.closeLater(1);
				});
				assertThat(earlier.status()).isEqualTo(DelayedTask.Status.REPLACED);
				assertThat(later.status()).isEqualTo(DelayedTask.Status.SCHEDULED);
				later.cancel(false);
			}
		});
	}

	@Test
	void aFutureThatCompletesWithinTheTransactionCancelsAfterTheCommit() {
		this.runner.withUserConfiguration(TransactionConfiguration.class).run((context) -> {
			Orders orders = context.getBean(Orders.class);
			TransactionTemplate transaction = context.getBean(TransactionTemplate.class);
			for (Future<String> payment : List.of(new CompletableFuture<String>(), new FutureTask<>(() -> "paid"))) {
				DelayedTask<?> task = orders.closeLater(1);
				transaction.executeWithoutResult((status) -> {
					orders.payWithin(1, payment);
					complete(payment);
					assertThat(task.status()).isEqualTo(DelayedTask.Status.SCHEDULED);
				});
				await().untilAsserted(() -> assertThat(task.status()).isEqualTo(DelayedTask.Status.CANCELLED));
			}
		});
	}

	@Test
	void aFutureThatCompletesAfterTheTransactionCancelsOnlyIfItCommits() {
		this.runner.withUserConfiguration(TransactionConfiguration.class).run((context) -> {
			Orders orders = context.getBean(Orders.class);
			TransactionTemplate transaction = context.getBean(TransactionTemplate.class);
			orders.closeLater(1);
			CompletableFuture<String> rolledBack = new CompletableFuture<>();
			transaction.executeWithoutResult((status) -> {
				orders.payWithin(1, rolledBack);
				status.setRollbackOnly();
			});
			rolledBack.complete("paid");
			assertThat(pending(context)).isOne();
			CompletableFuture<String> failed = new CompletableFuture<>();
			CompletableFuture<String> committed = new CompletableFuture<>();
			transaction.executeWithoutResult((status) -> {
				orders.payWithin(1, failed);
				orders.payWithin(1, committed);
				failed.completeExceptionally(new IllegalStateException());
			});
			assertThat(pending(context)).isOne();
			committed.complete("paid");
			assertThat(pending(context)).isZero();
		});
	}

	private static void complete(Future<String> payment) {
		if (payment instanceof FutureTask<?> task) {
			task.run();
		}
		else {
			((CompletableFuture<String>) payment).complete("paid");
		}
	}

	@Test
	void oneMethodMayCancelOneTaskAndScheduleAnother() {
		this.runner.run((context) -> {
			Orders orders = context.getBean(Orders.class);
			orders.close(1);
			orders.payAfterwards(1);
			assertThat(pending(context)).isEqualTo(2);
			advanceAndAwait(context, Duration.ofSeconds(2));
			assertThat(calls).containsExactly("pay 1");
			assertThat(pending(context)).isZero();
		});
	}

	@Test
	void theNameMayBelongToALazyBeanOfWhichOnlyTheInterfaceIsKnown() {
		DelayedContexts.runner(LazyDeadlines.class).withBean(CancelsDeadline.class).run((context) -> {
			context.getBean(Deadlines.class).arm(1);
			context.getBean(CancelsDeadline.class).cancel(1);
			assertThat(pending(context)).isZero();
		});
	}

	interface Deadlines {

		void arm(long id);

	}

	@Configuration(proxyBeanMethods = false)
	static class LazyDeadlines {

		@Bean
		@Lazy
		Deadlines deadlines() {
			return new Deadlines() {

				@Override
				@Delayed(delay = "30m", name = "deadline", key = "#id")
				public void arm(long id) {
				}

			};
		}

	}

	static class CancelsDeadline {

		@CancelDelayed(name = "deadline", key = "#id")
		public void cancel(long id) {
		}

	}

	static class Orders {

		@Delayed(delay = "30m", name = "close-order", key = "#orderId")
		public void close(long orderId) {
			calls.add("close " + orderId);
		}

		@Delayed(delay = "30m", name = "close-later", key = "#orderId")
		public DelayedTask<Void> closeLater(long orderId) {
			return DelayedTask.completed(null);
		}

		@CancelDelayed(name = "close-later", key = "#orderId")
		public Future<String> payWithin(long orderId, Future<String> payment) {
			return payment;
		}

		@CancelDelayed(name = "close-order", key = "#orderId")
		public DelayedTask<Void> payAndShip(long orderId, DelayedTaskTemplate tasks) {
			return tasks.enqueue(TaskId.of("ship", orderId), Duration.ofHours(1));
		}

		@CancelDelayed(name = "close-later", key = "#orderId")
		public DelayedTask<Void> payLaterAndShip(long orderId, DelayedTaskTemplate tasks) {
			return tasks.enqueue(TaskId.of("ship", orderId), Duration.ofHours(1));
		}

		@CancelDelayed(name = "close-order", key = "#orderId")
		public String pay(long orderId) {
			calls.add("pay " + orderId);
			return "paid";
		}

		@CancelDelayed(name = "close-order", key = "#orderId")
		public void payBoxed(@Nullable Long orderId) {
			calls.add("pay " + orderId);
		}

		@CancelDelayed(name = "close-order", key = "#orderId")
		public void fail(long orderId) {
			throw new IllegalStateException();
		}

		@CancelDelayed(name = "close-order", key = "#orderId", beforeInvocation = true)
		public void failAfterwards(long orderId, LongSupplier pending) {
			calls.add("pending " + pending.getAsLong());
			throw new IllegalStateException();
		}

		@CancelDelayed(name = "close-order", key = "#orderId")
		public CompletableFuture<String> payLater(long orderId, CompletableFuture<String> payment) {
			return payment;
		}

		@CancelDelayed(name = "close-order", key = "#orderId")
		public Future<String> payPlain(long orderId, Future<String> payment) {
			return payment;
		}

		@Delayed("1s")
		@CancelDelayed(name = "close-order", key = "#orderId")
		public void payAfterwards(long orderId) {
			calls.add("pay " + orderId);
		}

		@Transactional
		@CancelDelayed(name = "close-order", key = "#orderId")
		public void payInTransaction(long orderId, LongSupplier pending, boolean rollback) {
			TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

				@Override
				public void beforeCommit(boolean readOnly) {
					calls.add("before commit: " + pending.getAsLong());
				}

			});
			if (rollback) {
				TransactionAspectSupport.currentTransactionStatus().setRollbackOnly();
			}
		}

		@Transactional
		@CancelDelayed(name = "close-order", key = "#orderId")
		public void failInTransaction(long orderId) {
			throw new IllegalStateException();
		}

	}

}

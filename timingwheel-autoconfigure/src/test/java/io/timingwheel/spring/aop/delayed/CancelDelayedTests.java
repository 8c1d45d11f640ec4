package io.timingwheel.spring.aop.delayed;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.function.BiFunction;

import io.r2dbc.h2.H2ConnectionFactory;
import io.reactivex.rxjava3.core.Flowable;
import io.timingwheel.spring.VirtualApplication;
import io.timingwheel.spring.annotation.CancelDelayed;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.aop.Database;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DelayedTask.Status;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.reactivestreams.Publisher;
import reactor.adapter.JdkFlowAdapter;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.aop.Advisor;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.annotation.AnnotationMatchingPointcut;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.r2dbc.connection.R2dbcTransactionManager;
import org.springframework.transaction.ReactiveTransactionManager;
import org.springframework.transaction.annotation.AnnotationTransactionAttributeSource;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.interceptor.TransactionAspectSupport;
import org.springframework.transaction.interceptor.TransactionInterceptor;
import org.springframework.transaction.reactive.TransactionSynchronization;
import org.springframework.transaction.reactive.TransactionSynchronizationManager;
import org.springframework.transaction.reactive.TransactionalOperator;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

/** {@code @CancelDelayed} on methods of all shapes, without and within a transaction. */
class CancelDelayedTests {

	@RegisterExtension
	static final VirtualApplication app = VirtualApplication.of(Orders.class, Database.class);

	/** What a method returns, which ends as the bank says. */
	enum Shape {

		COMPLETABLE((orders, bank) -> orders.payLater(1, bank)),

		PLAIN((orders, bank) -> orders.payPlain(1, new PlainFuture(bank))),

		MONO((orders, bank) -> orders.payMono(1, Mono.fromFuture(bank))),

		FLUX((orders, bank) -> orders.payInParts(1, Mono.fromFuture(bank).flux())),

		FLOWABLE((orders, bank) -> orders.payInFlow(1, Flowable.fromPublisher(Mono.fromFuture(bank)))),

		PUBLISHER((orders, bank) -> orders.payAsPublisher(1, Mono.fromFuture(bank))),

		FLOW((orders, bank) -> orders.payAsFlow(1, Mono.fromFuture(bank)));

		private final BiFunction<Orders, CompletableFuture<String>, Object> pay;

		Shape(BiFunction<Orders, CompletableFuture<String>, Object> pay) {
			this.pay = pay;
		}

		/** Pays, and subscribes to a publisher. */
		void pay(Orders orders, CompletableFuture<String> bank) {
			Object payment = this.pay.apply(orders, bank);
			ReactiveAdapter adapter = ReactiveAdapterRegistry.getSharedInstance().getAdapter(null, payment);
			if (adapter != null && !(payment instanceof Future)) {
				assertThat(app.pending()).as("before the subscription").isOne();
				Flux.from(adapter.toPublisher(payment)).subscribe((value) -> {
				}, (error) -> {
				});
			}
		}

	}

	@ParameterizedTest
	@EnumSource
	void cancelsAtTheNormalCompletionAlsoWithoutAValue(Shape shape, Orders orders) {
		DelayedTask<?> task = orders.close(1);
		CompletableFuture<String> failing = new CompletableFuture<>();
		shape.pay(orders, failing);
		failing.completeExceptionally(new IllegalStateException("no money"));
		CompletableFuture<String> cancelled = new CompletableFuture<>();
		shape.pay(orders, cancelled);
		cancelled.cancel(true);
		assertStaysPending(task);
		for (String value : Arrays.asList("paid", null)) {
			orders.close(1);
			CompletableFuture<String> bank = new CompletableFuture<>();
			shape.pay(orders, bank);
			assertThat(app.pending()).isOne();
			bank.complete(value);
			await().until(() -> app.pending() == 0);
		}
	}

	/** Whatever has ended on another thread before has been seen when a later end is. */
	private static void assertStaysPending(DelayedTask<?> task) {
		Orders orders = app.bean(Orders.class);
		DelayedTask<?> other = orders.close(2);
		PlainFuture paid = new PlainFuture(CompletableFuture.completedFuture("paid"));
		orders.payPlain(2, paid);
		await().until(other::isCancelled);
		assertThat(task.status()).isEqualTo(Status.SCHEDULED);
	}

	@ParameterizedTest
	@EnumSource
	void whatCompletesWithinATransactionCancelsAfterTheCommit(Shape shape, Orders orders,
			TransactionTemplate transaction) {
		DelayedTask<?> task = orders.close(1);
		transaction.executeWithoutResult((status) -> {
			payNow(shape, orders);
			status.setRollbackOnly();
		});
		assertStaysPending(task);
		transaction.executeWithoutResult((status) -> {
			payNow(shape, orders);
			assertThat(task.status()).isEqualTo(Status.SCHEDULED);
		});
		await().until(task::isCancelled);
	}

	private static void payNow(Shape shape, Orders orders) {
		CompletableFuture<String> bank = new CompletableFuture<>();
		shape.pay(orders, bank);
		bank.complete("paid");
	}

	@ParameterizedTest
	@EnumSource(names = { "COMPLETABLE", "PLAIN" })
	void aFutureThatCompletesAfterTheTransactionCancelsOnlyIfItCommits(Shape shape, Orders orders,
			TransactionTemplate transaction) {
		DelayedTask<?> task = orders.close(1);
		CompletableFuture<String> rolledBack = new CompletableFuture<>();
		CompletableFuture<String> failed = new CompletableFuture<>();
		CompletableFuture<String> committed = new CompletableFuture<>();
		transaction.executeWithoutResult((status) -> {
			shape.pay(orders, rolledBack);
			status.setRollbackOnly();
		});
		transaction.executeWithoutResult((status) -> {
			shape.pay(orders, failed);
			shape.pay(orders, committed);
			failed.completeExceptionally(new IllegalStateException());
		});
		rolledBack.complete("paid");
		assertStaysPending(task);
		committed.complete("paid");
		await().until(task::isCancelled);
	}

	@Test
	void aFutureThatIsDoneAtItsReturnCancelsLikeANormalReturn(Orders orders, TransactionTemplate transaction) {
		CompletableFuture<String> done = CompletableFuture.completedFuture("paid");
		for (Future<String> payment : List.of(done, new PlainFuture(done))) {
			DelayedTask<?> earlier = orders.close(1);
			DelayedTask<?> later = transaction.execute((status) -> {
				assertThat(orders.payPlain(1, payment)).isSameAs(payment);
				return orders.close(1);
			});
			assertThat(earlier.status()).isEqualTo(Status.CANCELLED);
			assertThat(later.status()).isEqualTo(Status.SCHEDULED);
		}
	}

	@Test
	void aMethodWithoutAFutureCancelsAfterItsNormalReturn(Orders orders) {
		orders.close(1);
		orders.close(2);
		assertThatIllegalStateException().isThrownBy(() -> orders.fail(1));
		assertThat(app.pending()).isEqualTo(2);
		assertThat(orders.pay(1)).isEqualTo("paid");
		assertThat(app.pending()).isOne();
		assertThat(orders.pay(1)).as("nothing to cancel").isEqualTo("paid");
		app.advance(Duration.ofMinutes(30));
		assertThat(app.calls()).containsExactly("pay 1", "pay 1", "close 2");
	}

	@Test
	void cancelsBeforeTheInvocationHoweverItEnds(Orders orders) {
		orders.close(1);
		assertThatIllegalStateException().isThrownBy(() -> orders.failAfterwards(1));
		assertThat(app.calls()).containsExactly("pending 0");
		orders.close(1);
		Mono<String> payment = orders.giveUp(1, Mono.error(new IllegalStateException()));
		assertThat(app.pending()).isZero();
		assertThatIllegalStateException().isThrownBy(payment::block);
	}

	@Test
	void aTransactionalMethodCancelsAfterItsCommitOnly(Orders orders) {
		orders.close(1);
		orders.payInTransaction(1, true);
		assertThat(app.pending()).isOne();
		orders.payInTransaction(1, false);
		assertThat(app.pending()).isZero();
	}

	@Test
	void eachSubscriptionOfAMonoHasCancelledWhenItsValueArrivesAndAFluxOnlyAtItsEnd(Orders orders) {
		Mono<Long> payment = orders.payMono(1, Mono.just("paid")).map((value) -> app.pending());
		for (int i = 0; i < 2; i++) {
			orders.close(1);
			assertThat(payment.block()).isZero();
		}
		orders.close(1);
		assertThat(orders.payInParts(1, Flux.just("first", "second")).map((part) -> app.pending()).toIterable())
			.containsExactly(1L, 1L);
		assertThat(app.pending()).isZero();
		orders.close(1);
		assertThat(orders.payInParts(1, Flux.just("first", "second")).blockFirst()).isEqualTo("first");
		orders.payMono(1, Mono.never()).subscribe().dispose();
		assertThat(app.pending()).as("after subscriptions that were cancelled").isOne();
	}

	@ParameterizedTest
	@ValueSource(classes = { AnnotationDriven.class, Advised.class })
	void aReactiveTransactionOfTheMethodCommitsFirst(Class<?> transactions) {
		Mono<String> failing = Mono.error(new IllegalStateException("no money"));
		try (VirtualApplication reactive = VirtualApplication.of(Orders.class, transactions)) {
			Orders orders = reactive.bean(Orders.class);
			List<Long> pendingAtCommit = new ArrayList<>();
			Mono<String> paid = TransactionSynchronizationManager.forCurrentTransaction()
				.doOnNext((transaction) -> transaction.registerSynchronization(new TransactionSynchronization() {

					@Override
					public Mono<Void> afterCommit() {
						return Mono.fromRunnable(() -> pendingAtCommit.add(reactive.pending()));
					}

				}))
				.thenReturn("paid");
			orders.close(1);
			assertThatIllegalStateException().isThrownBy(() -> orders.payInReactiveTransaction(1, failing).block());
			assertThat(reactive.pending()).isOne();
			assertThat(orders.payInReactiveTransaction(1, paid).map((value) -> reactive.pending()).block()).isZero();
			assertThat(pendingAtCommit).containsExactly(1L);
		}
	}

	@Test
	void aRollbackOfTheReactiveTransactionOfTheCallerStillCancels() {
		try (VirtualApplication reactive = VirtualApplication.of(Orders.class, AnnotationDriven.class)) {
			Orders orders = reactive.bean(Orders.class);
			orders.close(1);
			Mono<String> failing = orders.payInReactiveTransaction(1, Mono.just("paid"))
				.then(Mono.error(new IllegalStateException("of the caller")));
			Mono<String> rolledBack = TransactionalOperator.create(reactive.bean(ReactiveTransactionManager.class))
				.transactional(failing);
			assertThatIllegalStateException().isThrownBy(rolledBack::block);
			assertThat(reactive.pending()).isZero();
		}
	}

	private static final class PlainFuture extends FutureTask<String> {

		PlainFuture(CompletableFuture<String> source) {
			super(() -> "never runs");
			source.whenComplete((value, error) -> {
				if (error != null) {
					setException(error);
				}
				else {
					set(value);
				}
			});
		}

	}

	static class ReactiveTransactions {

		@Bean
		static ReactiveTransactionManager reactiveTransactionManager() {
			return new R2dbcTransactionManager(H2ConnectionFactory.inMemory("reactive"));
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableTransactionManagement
	static class AnnotationDriven extends ReactiveTransactions {

	}

	/** Advises the methods as {@code aop:advisor} with {@code tx:advice} does. */
	@Configuration(proxyBeanMethods = false)
	static class Advised extends ReactiveTransactions {

		@Bean
		@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
		static Advisor transactions(ReactiveTransactionManager manager) {
			return new DefaultPointcutAdvisor(AnnotationMatchingPointcut.forMethodAnnotation(Transactional.class),
					new TransactionInterceptor(manager, new AnnotationTransactionAttributeSource()));
		}

	}

	static class Orders {

		@Delayed(delay = "30m", name = "close-order", key = "#orderId")
		public DelayedTask<Void> close(long orderId) {
			app.calls().add("close " + orderId);
			return DelayedTask.completed(null);
		}

		@CancelDelayed(name = "close-order", key = "#orderId")
		public String pay(long orderId) {
			app.calls().add("pay " + orderId);
			return "paid";
		}

		@CancelDelayed(name = "close-order", key = "#orderId")
		public void fail(long orderId) {
			throw new IllegalStateException();
		}

		@CancelDelayed(name = "close-order", key = "#orderId", beforeInvocation = true)
		public void failAfterwards(long orderId) {
			app.calls().add("pending " + app.pending());
			throw new IllegalStateException();
		}

		@CancelDelayed(name = "close-order", key = "#orderId", beforeInvocation = true)
		public Mono<String> giveUp(long orderId, Mono<String> bank) {
			return bank;
		}

		@CancelDelayed(name = "close-order", key = "#orderId")
		public CompletableFuture<String> payLater(long orderId, CompletableFuture<String> payment) {
			return payment;
		}

		@CancelDelayed(name = "close-order", key = "#orderId")
		public Future<String> payPlain(long orderId, Future<String> payment) {
			return payment;
		}

		@CancelDelayed(name = "close-order", key = "#orderId")
		public Mono<String> payMono(long orderId, Mono<String> bank) {
			return bank;
		}

		@Transactional
		@CancelDelayed(name = "close-order", key = "#orderId")
		public Mono<String> payInReactiveTransaction(long orderId, Mono<String> bank) {
			return bank;
		}

		@CancelDelayed(name = "close-order", key = "#orderId")
		public Flux<String> payInParts(long orderId, Flux<String> bank) {
			return bank;
		}

		@CancelDelayed(name = "close-order", key = "#orderId")
		public Flowable<String> payInFlow(long orderId, Flowable<String> bank) {
			return bank;
		}

		@CancelDelayed(name = "close-order", key = "#orderId")
		public Publisher<String> payAsPublisher(long orderId, Mono<String> bank) {
			return bank;
		}

		@CancelDelayed(name = "close-order", key = "#orderId")
		public Flow.Publisher<String> payAsFlow(long orderId, Mono<String> bank) {
			return JdkFlowAdapter.publisherToFlowPublisher(bank);
		}

		@Transactional
		@CancelDelayed(name = "close-order", key = "#orderId")
		public void payInTransaction(long orderId, boolean rollback) {
			if (rollback) {
				TransactionAspectSupport.currentTransactionStatus().setRollbackOnly();
			}
		}

	}

}

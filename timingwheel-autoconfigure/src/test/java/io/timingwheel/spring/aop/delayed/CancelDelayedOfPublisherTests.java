package io.timingwheel.spring.aop.delayed;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.function.BiFunction;

import io.r2dbc.h2.H2ConnectionFactory;
import io.r2dbc.spi.ConnectionFactory;
import io.reactivex.rxjava3.core.Flowable;
import io.timingwheel.spring.annotation.CancelDelayed;
import io.timingwheel.spring.annotation.Delayed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.reactivestreams.Publisher;
import reactor.adapter.JdkFlowAdapter;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.r2dbc.connection.R2dbcTransactionManager;
import org.springframework.transaction.ReactiveTransactionManager;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.reactive.TransactionalOperator;
import org.springframework.transaction.support.TransactionTemplate;

import static io.timingwheel.spring.aop.delayed.DelayedContexts.pending;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * {@code @CancelDelayed} on methods that return publishers, also in transactions.
 */
class CancelDelayedOfPublisherTests {

	private static final Duration LIMIT = Duration.ofMinutes(1);

	private static final Mono<String> FAILING = Mono.error(new IllegalStateException("no money"));

	private final ApplicationContextRunner runner = DelayedContexts.runner().withBean("orders", Orders.class);

	private final ApplicationContextRunner reactive = this.runner.withUserConfiguration(ReactiveTransactions.class);

	/**
	 * What a method declares, and how its publisher is read.
	 */
	enum Shape {

		MONO((orders, bank) -> orders.pay(1, bank)), FLUX((orders, bank) -> orders.payInParts(1, bank.flux())),

		FLOWABLE((orders, bank) -> orders.payInFlow(1, Flowable.fromPublisher(bank))),

		PUBLISHER((orders, bank) -> orders.payAsPublisher(1, bank)),

		FLOW((orders, bank) -> JdkFlowAdapter.flowPublisherToFlux(orders.payAsFlow(1, bank)));

		private final BiFunction<Orders, Mono<String>, Publisher<String>> pay;

		Shape(BiFunction<Orders, Mono<String>, Publisher<String>> pay) {
			this.pay = pay;
		}

	}

	@ParameterizedTest
	@EnumSource
	void cancelsAtTheCompletion(Shape shape) {
		this.runner.run((context) -> {
			Orders orders = context.getBean(Orders.class);
			orders.close(1);
			Sinks.One<String> bank = Sinks.one();
			Publisher<String> payment = shape.pay.apply(orders, bank.asMono());
			assertThat(pending(context)).isOne();
			CompletableFuture<List<String>> paid = Flux.from(payment).collectList().toFuture();
			assertThat(pending(context)).isOne();
			bank.tryEmitValue("paid").orThrow();
			assertThat(paid).succeedsWithin(LIMIT).isEqualTo(List.of("paid"));
			assertThat(pending(context)).isZero();
		});
	}

	@ParameterizedTest
	@EnumSource
	void cancelsAtTheCompletionWithoutAValueToo(Shape shape) {
		this.runner.run((context) -> {
			Orders orders = context.getBean(Orders.class);
			orders.close(1);
			assertThat(Flux.from(shape.pay.apply(orders, Mono.empty())).blockLast(LIMIT)).isNull();
			assertThat(pending(context)).isZero();
		});
	}

	@Test
	void aMonoHasCancelledWhenItsValueArrivesAndAFluxOnlyAtItsEnd() {
		this.runner.run((context) -> {
			Orders orders = context.getBean(Orders.class);
			orders.close(1);
			assertThat(orders.pay(1, Mono.just("paid")).map((value) -> pending(context)).block(LIMIT)).isZero();
			orders.close(1);
			assertThat(orders.payInParts(1, Flux.just("first", "second"))
				.map((part) -> pending(context))
				.collectList()
				.block(LIMIT)).containsExactly(1L, 1L);
			assertThat(pending(context)).isZero();
		});
	}

	@Test
	void cancelsAtEachSubscription() {
		this.runner.run((context) -> {
			Orders orders = context.getBean(Orders.class);
			Mono<String> payment = orders.pay(1, Mono.just("paid"));
			for (int i = 0; i < 2; i++) {
				orders.close(1);
				assertThat(pending(context)).isOne();
				payment.block(LIMIT);
				assertThat(pending(context)).isZero();
			}
		});
	}

	@Test
	void cancelsNothingAfterAFailure() {
		this.runner.run((context) -> {
			Orders orders = context.getBean(Orders.class);
			orders.close(1);
			assertThatIllegalStateException().isThrownBy(() -> orders.pay(1, FAILING).block(LIMIT));
			assertThatIllegalStateException()
				.isThrownBy(() -> orders.payInParts(1, Flux.just("first").concatWith(FAILING)).blockLast(LIMIT));
			assertThat(pending(context)).isOne();
		});
	}

	@Test
	void cancelsNothingWhenTheSubscriptionIsCancelled() {
		this.runner.run((context) -> {
			Orders orders = context.getBean(Orders.class);
			orders.close(1);
			assertThat(orders.payInParts(1, Flux.just("first", "second")).blockFirst(LIMIT)).isEqualTo("first");
			orders.pay(1, Mono.never()).subscribe().dispose();
			assertThat(pending(context)).isOne();
		});
	}

	@Test
	void cancelsFirstIfTheAnnotationSaysSo() {
		this.runner.run((context) -> {
			Orders orders = context.getBean(Orders.class);
			orders.close(1);
			Mono<String> payment = orders.giveUp(1, FAILING);
			assertThat(pending(context)).isZero();
			assertThatIllegalStateException().isThrownBy(() -> payment.block(LIMIT));
		});
	}

	@Test
	void aSubscriptionWithinATransactionOfTheThreadCancelsAfterTheCommit() {
		this.runner.withUserConfiguration(TransactionConfiguration.class).run((context) -> {
			Orders orders = context.getBean(Orders.class);
			TransactionTemplate transaction = context.getBean(TransactionTemplate.class);
			orders.close(1);
			transaction.executeWithoutResult((status) -> {
				orders.pay(1, Mono.just("paid")).block(LIMIT);
				status.setRollbackOnly();
			});
			assertThat(pending(context)).isOne();
			transaction.executeWithoutResult((status) -> {
				orders.pay(1, Mono.just("paid")).block(LIMIT);
				assertThat(pending(context)).isOne();
			});
			assertThat(pending(context)).isZero();
		});
	}

	@Test
	void cancelsAfterTheCommitOfAReactiveTransaction() {
		this.reactive.run((context) -> {
			Orders orders = context.getBean(Orders.class);
			TransactionalOperator transaction = TransactionalOperator
				.create(context.getBean(ReactiveTransactionManager.class));
			orders.close(1);
			Mono<Long> paid = orders.payInTransaction(1, Mono.just("paid")).map((value) -> pending(context));
			assertThat(paid.block(LIMIT)).isZero();
			orders.close(1);
			Mono<Long> within = orders.pay(1, Mono.just("paid")).map((value) -> pending(context));
			assertThat(within.as(transaction::transactional).block(LIMIT)).isOne();
			assertThat(pending(context)).isZero();
		});
	}

	@Test
	void cancelsNothingAfterTheRollbackOfAReactiveTransaction() {
		this.reactive.run((context) -> {
			Orders orders = context.getBean(Orders.class);
			TransactionalOperator transaction = TransactionalOperator
				.create(context.getBean(ReactiveTransactionManager.class));
			orders.close(1);
			assertThatIllegalStateException().isThrownBy(
					() -> orders.pay(1, Mono.just("paid")).then(FAILING).as(transaction::transactional).block(LIMIT));
			assertThatIllegalStateException().isThrownBy(() -> orders.payInTransaction(1, FAILING).block(LIMIT));
			transaction
				.execute((status) -> orders.payInParts(1, Flux.just("paid")).doOnComplete(status::setRollbackOnly))
				.blockLast(LIMIT);
			assertThat(pending(context)).isOne();
		});
	}

	@Test
	void whatIsScheduledAfterTheCompletionStaysInAReactiveTransaction() {
		this.reactive.run((context) -> {
			Orders orders = context.getBean(Orders.class);
			TransactionalOperator transaction = TransactionalOperator
				.create(context.getBean(ReactiveTransactionManager.class));
			orders.close(1);
			orders.pay(1, Mono.just("paid"))
				.doOnNext((value) -> orders.close(1))
				.as(transaction::transactional)
				.block(LIMIT);
			assertThat(pending(context)).isOne();
		});
	}

	@Test
	void aCallDoesNotSeeReactiveTransactions() {
		this.reactive.withBean("afterCommit", AfterCommit.class).run((context) -> {
			TransactionalOperator transaction = TransactionalOperator
				.create(context.getBean(ReactiveTransactionManager.class));
			AfterCommit service = context.getBean(AfterCommit.class);
			assertThatIllegalStateException().isThrownBy(() -> Mono.fromRunnable(() -> service.close(1))
				.then(FAILING)
				.as(transaction::transactional)
				.block(LIMIT));
			assertThat(pending(context)).isOne();
			assertThatIllegalStateException().isThrownBy(
					() -> FAILING.as(transaction::transactional).doOnSuccess((value) -> service.close(2)).block(LIMIT));
			assertThat(pending(context)).isOne();
		});
	}

	@Configuration(proxyBeanMethods = false)
	@EnableTransactionManagement
	static class ReactiveTransactions {

		@Bean
		ConnectionFactory connectionFactory() {
			return H2ConnectionFactory.inMemory("reactive");
		}

		@Bean
		ReactiveTransactionManager reactiveTransactionManager(ConnectionFactory connectionFactory) {
			return new R2dbcTransactionManager(connectionFactory);
		}

	}

	static class Orders {

		@Delayed(delay = "30m", name = "close-order", key = "#orderId")
		public void close(long orderId) {
		}

		@CancelDelayed(name = "close-order", key = "#orderId")
		public Mono<String> pay(long orderId, Mono<String> bank) {
			return bank;
		}

		@CancelDelayed(name = "close-order", key = "#orderId")
		public Flowable<String> payInFlow(long orderId, Flowable<String> bank) {
			return bank;
		}

		@CancelDelayed(name = "close-order", key = "#orderId")
		public Flux<String> payInParts(long orderId, Flux<String> bank) {
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

		@CancelDelayed(name = "close-order", key = "#orderId", beforeInvocation = true)
		public Mono<String> giveUp(long orderId, Mono<String> bank) {
			return bank;
		}

		@Transactional("reactiveTransactionManager")
		@CancelDelayed(name = "close-order", key = "#orderId")
		public Mono<String> payInTransaction(long orderId, Mono<String> bank) {
			return bank;
		}

	}

	static class AfterCommit {

		@Delayed(delay = "30m", key = "#orderId", afterCommit = true)
		public void close(long orderId) {
		}

	}

}

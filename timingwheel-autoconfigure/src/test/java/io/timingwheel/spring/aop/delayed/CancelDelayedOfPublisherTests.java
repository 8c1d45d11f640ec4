package io.timingwheel.spring.aop.delayed;

import java.time.Duration;
import java.util.concurrent.Flow;

import io.r2dbc.h2.H2ConnectionFactory;
import io.r2dbc.spi.ConnectionFactory;
import io.reactivex.rxjava3.core.Flowable;
import io.timingwheel.spring.annotation.CancelDelayed;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Publisher;
import reactor.adapter.JdkFlowAdapter;
import reactor.core.publisher.ConnectableFlux;
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

	@Test
	void cancelsAtTheCompletionOfAMono() {
		this.runner.run((context) -> {
			Orders orders = context.getBean(Orders.class);
			orders.close(1);
			Sinks.One<String> bank = Sinks.one();
			Mono<String> payment = orders.pay(1, bank.asMono());
			assertThat(pending(context)).isOne();
			Mono<String> paid = payment.doOnNext((value) -> assertThat(pending(context)).isZero()).cache();
			paid.subscribe();
			assertThat(pending(context)).isOne();
			bank.tryEmitValue("paid").orThrow();
			assertThat(paid.block(LIMIT)).isEqualTo("paid");
			assertThat(pending(context)).isZero();
		});
	}

	@Test
	void cancelsAtTheCompletionOfAnEmptyMono() {
		this.runner.run((context) -> {
			Orders orders = context.getBean(Orders.class);
			orders.close(1);
			Mono<String> payment = orders.pay(1, Mono.empty());
			assertThat(pending(context)).isOne();
			assertThat(payment.block(LIMIT)).isNull();
			assertThat(pending(context)).isZero();
		});
	}

	@Test
	void cancelsAtTheCompletionOfAFlux() {
		this.runner.run((context) -> {
			Orders orders = context.getBean(Orders.class);
			orders.close(1);
			Flux<String> payment = orders.payInParts(1, Flux.just("first", "second"));
			assertThat(payment.doOnNext((part) -> assertThat(pending(context)).isOne()).collectList().block(LIMIT))
				.containsExactly("first", "second");
			assertThat(pending(context)).isZero();
		});
	}

	@Test
	void cancelsAtTheCompletionOfATypeThatIsAPublisherItself() {
		this.runner.run((context) -> {
			Orders orders = context.getBean(Orders.class);
			orders.close(1);
			Flowable<String> payment = orders.payInFlow(1, Flowable.just("first", "second"));
			assertThat(pending(context)).isOne();
			assertThat(payment.toList().blockingGet()).containsExactly("first", "second");
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
	void cancelsAtTheCompletionOfOtherReactiveTypes() {
		this.runner.run((context) -> {
			Orders orders = context.getBean(Orders.class);
			orders.close(1);
			Publisher<String> publisher = orders.payAsPublisher(1, Mono.just("paid"));
			assertThat(pending(context)).isOne();
			assertThat(Flux.from(publisher).blockLast(LIMIT)).isEqualTo("paid");
			assertThat(pending(context)).isZero();
			orders.close(1);
			Flow.Publisher<String> flow = orders.payAsFlow(1, Mono.just("paid"));
			assertThat(pending(context)).isOne();
			assertThat(JdkFlowAdapter.flowPublisherToFlux(flow).blockLast(LIMIT)).isEqualTo("paid");
			assertThat(pending(context)).isZero();
		});
	}

	@Test
	void aTypeThatHidesTheCompletionStopsTheStart() {
		this.runner.withBean("hot", Hot.class)
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOf(InvalidAnnotatedMethodException.class)
				.hasMessageContaining("@CancelDelayed is on a method that returns " + ConnectableFlux.class.getName())
				.hasMessageContaining("return Flux, or set beforeInvocation = true"));
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

	static class Hot {

		@CancelDelayed(name = "close-order", key = "#orderId")
		public ConnectableFlux<String> pay(long orderId) {
			return Flux.just("paid").publish();
		}

	}

}

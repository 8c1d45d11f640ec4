package io.timingwheel.spring.aop.delayed;

import io.r2dbc.h2.H2ConnectionFactory;
import io.timingwheel.spring.VirtualApplication;
import io.timingwheel.spring.annotation.CancelDelayed;
import io.timingwheel.spring.annotation.Delayed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Mono;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.r2dbc.connection.R2dbcTransactionManager;
import org.springframework.transaction.ReactiveTransactionManager;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.reactive.TransactionalOperator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * {@code @CancelDelayed} and {@code afterCommit} beside reactive transactions.
 */
class ReactiveTransactionTests {

	private static final Mono<String> PAID = Mono.just("paid");

	private static final Mono<String> FAILING = Mono.error(new IllegalStateException("no money"));

	@RegisterExtension
	static final VirtualApplication app = VirtualApplication.of(Orders.class, ReactiveTransactions.class);

	@Test
	void cancelsAfterTheCommit(Orders orders, TransactionalOperator transaction) {
		orders.close(1);
		assertThat(orders.payInTransaction(1, PAID).map((value) -> app.pending()).block()).isZero();
		orders.close(1);
		Mono<Long> within = orders.pay(1, PAID).map((value) -> app.pending());
		assertThat(within.as(transaction::transactional).block()).isOne();
		assertThat(app.pending()).isZero();
	}

	@Test
	void cancelsNothingAfterARollback(Orders orders, TransactionalOperator transaction) {
		orders.close(1);
		assertThatIllegalStateException()
			.isThrownBy(() -> orders.pay(1, PAID).then(FAILING).as(transaction::transactional).block());
		assertThatIllegalStateException().isThrownBy(() -> orders.payInTransaction(1, FAILING).block());
		transaction.execute((status) -> orders.pay(1, PAID).doOnSuccess((value) -> status.setRollbackOnly()))
			.blockLast();
		assertThat(app.pending()).isOne();
	}

	@Test
	void whatIsScheduledAfterTheCompletionStays(Orders orders, TransactionalOperator transaction) {
		orders.close(1);
		orders.pay(1, PAID).doOnNext((value) -> orders.close(1)).as(transaction::transactional).block();
		assertThat(app.pending()).isOne();
	}

	@Test
	void aCallDoesNotSeeReactiveTransactions(Orders orders, TransactionalOperator transaction) {
		assertThatIllegalStateException().isThrownBy(() -> Mono.fromRunnable(() -> orders.closeAfterCommit(1))
			.then(FAILING)
			.as(transaction::transactional)
			.block());
		assertThat(app.pending()).isOne();
	}

	@Configuration(proxyBeanMethods = false)
	@EnableTransactionManagement
	static class ReactiveTransactions {

		@Bean
		ReactiveTransactionManager reactiveTransactionManager() {
			return new R2dbcTransactionManager(H2ConnectionFactory.inMemory("reactive"));
		}

		@Bean
		TransactionalOperator transactionalOperator(ReactiveTransactionManager transactionManager) {
			return TransactionalOperator.create(transactionManager);
		}

	}

	static class Orders {

		@Delayed(delay = "30m", name = "close-order", key = "#orderId")
		public void close(long orderId) {
		}

		@Delayed(delay = "30m", key = "#orderId", afterCommit = true)
		public void closeAfterCommit(long orderId) {
		}

		@CancelDelayed(name = "close-order", key = "#orderId")
		public Mono<String> pay(long orderId, Mono<String> bank) {
			return bank;
		}

		@Transactional
		@CancelDelayed(name = "close-order", key = "#orderId")
		public Mono<String> payInTransaction(long orderId, Mono<String> bank) {
			return bank;
		}

	}

}

package io.timingwheel.spring.aop.delayed;

import java.time.Duration;

import io.r2dbc.h2.H2ConnectionFactory;
import io.r2dbc.spi.ConnectionFactory;
import io.timingwheel.spring.annotation.CancelDelayed;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.durable.call.MemoryStore;
import io.timingwheel.spring.task.DelayedTaskTemplate;
import io.timingwheel.spring.task.TaskId;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.r2dbc.connection.R2dbcTransactionManager;
import org.springframework.transaction.ReactiveTransactionManager;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.reactive.TransactionalOperator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * {@code @CancelDelayed} of durable tasks, on methods that return publishers.
 */
class CancelDurableOfPublisherTests {

	private static final Duration LIMIT = Duration.ofMinutes(1);

	@Test
	void aStoreDoesNotBlockAThreadThatMustNotBlock() {
		MemoryStore store = new MemoryStore();
		DurableContexts.runner(store).withBean("orders", DurableOrders.class).run((context) -> {
			DurableOrders orders = context.getBean(DurableOrders.class);
			orders.close(1);
			Mono<String> thread = orders.pay(1)
				.publishOn(Schedulers.immediate())
				.map((value) -> Thread.currentThread().getName());
			assertThat(thread.block(LIMIT)).startsWith("boundedElastic");
			assertThat(store.payloads("close-order")).isEmpty();
		});
	}

	@Test
	void anErrorOfTheStoreReachesTheSubscriber() {
		MemoryStore store = new MemoryStore();
		store.refuse("close-order");
		DurableContexts.runner(store)
			.withBean("orders", DurableOrders.class)
			.run((context) -> assertThatIllegalStateException()
				.isThrownBy(() -> context.getBean(DurableOrders.class).pay(1).block(LIMIT))
				.withMessage("refused"));
	}

	@Test
	void whatIsStoredAfterTheCompletionStaysInAReactiveTransaction() {
		MemoryStore store = new MemoryStore();
		DurableContexts.runner(store, ReactiveTransactions.class)
			.withBean("orders", DurableOrders.class)
			.run((context) -> {
				DurableOrders orders = context.getBean(DurableOrders.class);
				TransactionalOperator transaction = TransactionalOperator
					.create(context.getBean(ReactiveTransactionManager.class));
				orders.close(1);
				orders.close(2);
				orders.pay(1).doOnNext((value) -> orders.close(1)).as(transaction::transactional).block(LIMIT);
				orders.pay(2).as(transaction::transactional).block(LIMIT);
				assertThat(context.getBean(DelayedTaskTemplate.class).find(TaskId.of("close-order", 1))).isPresent();
				assertThat(store.payloads("close-order")).hasSize(1);
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

	static class DurableOrders {

		@Delayed(delay = "30m", name = "close-order", key = "#orderId", durable = true)
		public void close(long orderId) {
		}

		@CancelDelayed(name = "close-order", key = "#orderId")
		public Mono<String> pay(long orderId) {
			return Mono.just("paid").publishOn(Schedulers.parallel());
		}

	}

}

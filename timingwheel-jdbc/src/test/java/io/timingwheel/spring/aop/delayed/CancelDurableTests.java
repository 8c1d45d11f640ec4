package io.timingwheel.spring.aop.delayed;

import java.time.Duration;

import io.timingwheel.spring.annotation.CancelDelayed;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.durable.call.MemoryStore;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DelayedTaskTemplate;
import io.timingwheel.spring.task.TaskId;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * {@code @CancelDelayed} beside a store.
 */
class CancelDurableTests {

	private static final Duration LIMIT = Duration.ofMinutes(1);

	private final MemoryStore store = new MemoryStore();

	@Test
	void aMethodThatReturnsADurableTaskCancelsWhenItReturns() {
		DurableContexts.withTransactions(runner()).run((context) -> {
			Orders orders = context.getBean(Orders.class);
			DelayedTaskTemplate template = context.getBean(DelayedTaskTemplate.class);
			TransactionTemplate transaction = context.getBean(TransactionTemplate.class);
			orders.remind(1);
			assertThat(orders.payAndShip(1, template).status()).isEqualTo(DelayedTask.Status.SCHEDULED);
			assertThat(template.find(TaskId.of("remind", 1))).isEmpty();
			DelayedTask<?> later = transaction.execute((status) -> {
				orders.remind(2);
				orders.payAndShip(2, template);
				return orders.remind(2);
			});
			assertThat(later.status()).isEqualTo(DelayedTask.Status.SCHEDULED);
			transaction.execute((status) -> orders.payAndShip(2, template));
			assertThat(later.status()).isEqualTo(DelayedTask.Status.CANCELLED);
		});
	}

	@Test
	void aTaskThatOnlyOtherNodesCanRunIsCancelledToo() {
		runner().run((context) -> {
			Orders orders = context.getBean(Orders.class);
			DelayedTaskTemplate template = context.getBean(DelayedTaskTemplate.class);
			TaskId taskId = TaskId.of("elsewhere", 1);
			for (int repetition = 0; repetition < 2; repetition++) {
				template.enqueue(taskId, Duration.ofHours(1), 1);
				assertThat(this.store.payloads("elsewhere")).hasSize(1);
				orders.cancelElsewhere(1);
				assertThat(this.store.payloads("elsewhere")).isEmpty();
				template.enqueue(taskId, Duration.ofHours(1), 1);
				assertThat(template.cancel(taskId)).isTrue();
			}
			template.schedule(taskId, Duration.ofHours(1), () -> {
			});
			orders.cancelElsewhere(1);
			assertThat(template.pendingCount()).isZero();
		});
	}

	@Test
	void cancellingInMemoryAsksNoStore() {
		runner().run((context) -> {
			Orders orders = context.getBean(Orders.class);
			this.store.insert("remind", "1", "[]");
			orders.remind(1);
			orders.cancelReminder(1);
			orders.cancelReminder(1);
			assertThat(DelayedContexts.pending(context)).isZero();
			assertThat(this.store.payloads("remind")).hasSize(1);
		});
	}

	@Test
	void aStoreDoesNotBlockAThreadThatMustNotBlock() {
		runner().run((context) -> {
			Orders orders = context.getBean(Orders.class);
			orders.close(1);
			Mono<String> thread = orders.pay(1)
				.publishOn(Schedulers.immediate())
				.map((value) -> Thread.currentThread().getName());
			assertThat(thread.block(LIMIT)).startsWith("boundedElastic");
			assertThat(this.store.payloads("close-order")).isEmpty();
		});
	}

	@Test
	void anErrorOfTheStoreReachesTheSubscriber() {
		this.store.refuse("close-order");
		runner().run((context) -> assertThatIllegalStateException()
			.isThrownBy(() -> context.getBean(Orders.class).pay(1).block(LIMIT))
			.withMessage("refused"));
	}

	private ApplicationContextRunner runner() {
		return DurableContexts.runner(this.store).withBean("orders", Orders.class);
	}

	static class Orders {

		@Delayed(delay = "30m", name = "close-order", key = "#orderId", durable = true)
		public void close(long orderId) {
		}

		@CancelDelayed(name = "close-order", key = "#orderId")
		public Mono<String> pay(long orderId) {
			return Mono.just("paid").publishOn(Schedulers.parallel());
		}

		@Delayed(delay = "30m", name = "remind", key = "#orderId")
		public DelayedTask<Void> remind(long orderId) {
			return DelayedTask.completed(null);
		}

		@CancelDelayed(name = "remind", key = "#orderId")
		public void cancelReminder(long orderId) {
		}

		@CancelDelayed(name = "remind", key = "#orderId")
		public DelayedTask<Void> payAndShip(long orderId, DelayedTaskTemplate tasks) {
			return tasks.enqueue(TaskId.of("ship", orderId), Duration.ofHours(1));
		}

		@CancelDelayed(name = "elsewhere", key = "#orderId")
		public void cancelElsewhere(long orderId) {
		}

	}

}

package io.timingwheel.spring.aop.delayed;

import java.time.Duration;

import io.timingwheel.spring.annotation.CancelDelayed;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DelayedTaskTemplate;
import io.timingwheel.spring.task.TaskId;
import org.junit.jupiter.api.Test;

import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;

class CancelDurableTests {

	@Test
	void theHandleOfADurableTaskCountsAsANormalReturn() {
		DurableContexts.runner(TransactionConfiguration.class).withBean("orders", Orders.class).run((context) -> {
			Orders orders = context.getBean(Orders.class);
			DelayedTaskTemplate template = context.getBean(DelayedTaskTemplate.class);
			orders.close(1);
			assertThat(orders.payAndShip(1, template).status()).isEqualTo(DelayedTask.Status.SCHEDULED);
			assertThat(template.find(TaskId.of("close-order", 1))).isEmpty();
			DelayedTask<?> later = context.getBean(TransactionTemplate.class).execute((status) -> {
				orders.closeLater(2);
				orders.payLaterAndShip(2, template);
				return orders.closeLater(2);
			});
			assertThat(later.status()).isEqualTo(DelayedTask.Status.SCHEDULED);
			context.getBean(TransactionTemplate.class).execute((status) -> orders.payLaterAndShip(2, template));
			assertThat(later.status()).isEqualTo(DelayedTask.Status.CANCELLED);
		});
	}

	static class Orders {

		@Delayed(delay = "30m", name = "close-order", key = "#orderId")
		public void close(long orderId) {
		}

		@Delayed(delay = "30m", name = "close-later", key = "#orderId")
		public DelayedTask<Void> closeLater(long orderId) {
			return DelayedTask.completed(null);
		}

		@CancelDelayed(name = "close-order", key = "#orderId")
		public DelayedTask<Void> payAndShip(long orderId, DelayedTaskTemplate tasks) {
			return tasks.enqueue(TaskId.of("ship", orderId), Duration.ofHours(1));
		}

		@CancelDelayed(name = "close-later", key = "#orderId")
		public DelayedTask<Void> payLaterAndShip(long orderId, DelayedTaskTemplate tasks) {
			return tasks.enqueue(TaskId.of("ship", orderId), Duration.ofHours(1));
		}

	}

}

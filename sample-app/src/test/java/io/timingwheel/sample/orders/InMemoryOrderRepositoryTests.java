package io.timingwheel.sample.orders;

import java.time.Duration;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

class InMemoryOrderRepositoryTests {

	private static final int ROUNDS = 10_000;

	private final OrderRepository orders = new InMemoryOrderRepository();

	@Test
	void ofPayingAndClosingExactlyOneWins() throws Exception {
		CyclicBarrier start = new CyclicBarrier(2);
		ExecutorService executor = Executors.newSingleThreadExecutor();
		try {
			for (int round = 0; round < ROUNDS; round++) {
				long id = add().id();
				Future<?> closing = executor.submit(() -> {
					start.await();
					return this.orders.update(id, Order::closeIfUnpaid);
				});
				start.await();
				Order.Status expected = pay(id) ? Order.Status.PAID : Order.Status.CLOSED;
				closing.get();
				assertThat(this.orders.find(id)).get().extracting(Order::status).isEqualTo(expected);
			}
		}
		finally {
			executor.shutdownNow();
		}
	}

	@Test
	void anOrderThatCannotBeMadeIsNotAdded() {
		assertThatIllegalStateException().isThrownBy(() -> this.orders.add((id) -> {
			throw new IllegalStateException();
		}));
		assertThat(this.orders.count()).isZero();
	}

	private Order add() {
		return this.orders.add((id) -> Order.placed(id, "tea", Duration.ofSeconds(1)));
	}

	private boolean pay(long id) {
		try {
			this.orders.update(id, Order::pay);
			return true;
		}
		catch (OrderClosedException ex) {
			return false;
		}
	}

}

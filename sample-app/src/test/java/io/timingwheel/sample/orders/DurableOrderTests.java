package io.timingwheel.sample.orders;

import java.time.Duration;

import io.timingwheel.sample.DurableEndToEndTest;
import io.timingwheel.test.VirtualTime;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.test.web.servlet.client.RestTestClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

@DurableEndToEndTest
class DurableOrderTests {

	@Autowired
	private VirtualTime time;

	@Autowired
	private RestTestClient http;

	@Autowired
	private OrderRepository orders;

	@Autowired
	private PaymentDeadline deadline;

	@Autowired
	private JdbcClient jdbc;

	@Test
	void thePaymentOfAnOrderDeletesItsTask() {
		Order order = create();
		assertThat(tasks(order)).isEqualTo(1);
		this.http.post().uri("/orders/{id}/pay", order.id()).exchange().expectStatus().isOk();
		assertThat(tasks(order)).isZero();
		this.time.advance(Duration.ofMinutes(30));
		assertThat(this.orders.find(order.id())).get().extracting(Order::status).isEqualTo(Order.Status.PAID);
	}

	@Test
	void anOrderIsClosedOnceHoweverOftenItsTaskIsDelivered() {
		this.time.crashBeforeAcknowledge("close-order");
		Order order = create();
		this.time.advance(Duration.ofMinutes(30));
		assertThat(tasks(order)).isEqualTo(1);
		Order closed = this.orders.find(order.id()).orElseThrow();
		assertThat(closed.status()).isEqualTo(Order.Status.CLOSED);
		this.time.advance(Duration.ofMinutes(1));
		assertThat(tasks(order)).isZero();
		assertThat(this.orders.find(order.id())).contains(closed);
	}

	@Test
	void anOrderThatCannotBeMadeLeavesNoTask() {
		int before = this.orders.count();
		assertThatIllegalStateException().isThrownBy(() -> this.orders.add((id) -> {
			this.deadline.closeIfUnpaid(id);
			throw new IllegalStateException();
		}));
		assertThat(this.orders.count()).isEqualTo(before);
		long next = this.jdbc.sql("select next value for order_id").query(Long.class).single();
		assertThat(tasks(next - 1)).isZero();
	}

	private Order create() {
		return this.http.post()
			.uri("/orders")
			.exchange()
			.expectStatus()
			.isCreated()
			.expectBody(Order.class)
			.returnResult()
			.getResponseBody();
	}

	private int tasks(Order order) {
		return tasks(order.id());
	}

	private int tasks(long orderId) {
		return this.jdbc.sql("select count(*) from timingwheel_task where task_key = ?")
			.param(String.valueOf(orderId))
			.query(Integer.class)
			.single();
	}

}

package io.timingwheel.sample.orders;

import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.resttestclient.autoconfigure.AutoConfigureRestTestClient;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.test.context.ActiveProfiles;
import org.springframework.test.web.servlet.client.RestTestClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

@SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
		properties = { "spring.datasource.url=jdbc:h2:mem:orders", "orders.payment-window=3s" })
@AutoConfigureRestTestClient
@ActiveProfiles("durable")
class DurableOrderTests {

	@Autowired
	private RestTestClient http;

	@Autowired
	private OrderRepository orders;

	@Autowired
	private PaymentDeadline deadline;

	@Autowired
	private JdbcClient jdbc;

	@Test
	void anUnpaidOrderClosesAndAPaidOneDoesNot() {
		Order unpaid = create();
		Order paid = create();
		assertThat(tasks(unpaid)).isEqualTo(1);
		this.http.post().uri("/orders/{id}/pay", paid.id()).exchange().expectStatus().isOk();
		assertThat(tasks(paid)).isZero();
		await().until(() -> this.orders.find(unpaid.id()).orElseThrow().status() == Order.Status.CLOSED);
		Order closed = this.orders.find(unpaid.id()).orElseThrow();
		assertThat(closed.settledAt()).isAfterOrEqualTo(closed.closesAt());
		assertThat(this.orders.find(paid.id())).get().extracting(Order::status).isEqualTo(Order.Status.PAID);
		await().until(() -> tasks(unpaid) == 0);
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

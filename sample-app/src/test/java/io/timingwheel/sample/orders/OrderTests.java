package io.timingwheel.sample.orders;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.function.Predicate;

import io.timingwheel.sample.EndToEndTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.test.web.servlet.client.RestTestClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

@EndToEndTest
@ResourceLock("orders")
class OrderTests {

	@Autowired
	private RestTestClient http;

	@Test
	void anOrderIsCreatedPending() {
		this.http.post()
			.uri("/orders")
			.body(Map.of("item", "tea"))
			.exchange()
			.expectStatus()
			.isCreated()
			.expectHeader()
			.valueMatches("Location", ".*/orders/\\d+")
			.expectBody(Order.class)
			.value((order) -> {
				assertThat(order.item()).isEqualTo("tea");
				assertThat(order.status()).isEqualTo(Order.Status.PENDING);
				assertThat(order.closesAt()).isEqualTo(order.createdAt().plusSeconds(3));
				assertThat(order.settledAt()).isNull();
			});
	}

	@Test
	void anUnpaidOrderClosesAtTheEndOfItsWindowAndNotBefore() {
		Order order = awaitClosed(create());
		assertThat(order.settledAt()).isAfterOrEqualTo(order.closesAt());
	}

	@Test
	void aPaidOrderStaysPaid() {
		Order paid = createInTime(this::isPaid);
		Order unpaidLater = create();
		awaitClosed(unpaidLater);
		assertThat(get(paid).status()).isEqualTo(Order.Status.PAID);
	}

	@Test
	void aSecondPaymentChangesNothing() {
		Order order = createInTime(this::isPaid);
		Order paid = get(order);
		pay(order, HttpStatus.OK);
		assertThat(get(order)).isEqualTo(paid);
	}

	@Test
	void payingAClosedOrderIsAConflict() {
		Order order = awaitClosed(create());
		pay(order, HttpStatus.CONFLICT);
		assertThat(get(order)).isEqualTo(order);
	}

	@Test
	void anOrderWhoseClosingIsDeletedStaysPending() {
		Order order = createInTime(this::isNotToBeClosed);
		String task = task(order);
		this.http.get().uri(task).exchange().expectStatus().isNotFound();
		this.http.delete().uri(task).exchange().expectStatus().isNotFound();
		awaitClosed(create());
		assertThat(get(order).status()).isEqualTo(Order.Status.PENDING);
		pay(order, HttpStatus.OK);
	}

	@Test
	void theNewestOrdersAreListedFirst() {
		create();
		Order newest = create();
		this.http.get()
			.uri("/orders")
			.exchange()
			.expectStatus()
			.isOk()
			.expectBody(OrderController.OrderList.class)
			.value((list) -> {
				assertThat(list.paymentWindow()).isEqualTo(Duration.ofSeconds(3));
				assertThat(list.total()).isGreaterThanOrEqualTo(2).isGreaterThanOrEqualTo(list.orders().size());
				assertThat(list.orders()).extracting(Order::id).startsWith(newest.id(), newest.id() - 1);
			});
	}

	@Test
	void anUnknownOrderIsNotFound() {
		for (String uri : new String[] { "/orders/999999", "/orders/-1" }) {
			this.http.get()
				.uri(uri)
				.exchange()
				.expectStatus()
				.isNotFound()
				.expectHeader()
				.contentType(MediaType.APPLICATION_PROBLEM_JSON);
			this.http.post()
				.uri(uri + "/pay")
				.exchange()
				.expectStatus()
				.isNotFound()
				.expectBody()
				.jsonPath("$.detail")
				.isEqualTo("There is no order " + uri.substring("/orders/".length()));
		}
	}

	@Test
	void anIdThatIsNoNumberIsABadRequest() {
		this.http.get()
			.uri("/orders/first")
			.exchange()
			.expectStatus()
			.isBadRequest()
			.expectBody()
			.jsonPath("$.detail")
			.isEqualTo("id must be a whole number, not 'first'");
	}

	@ParameterizedTest
	@ValueSource(strings = { "{\"item\":\" \"}", "{\"item\":\"%s\"}", "{" })
	void aBadOrderIsABadRequest(String body) {
		this.http.post()
			.uri("/orders")
			.contentType(MediaType.APPLICATION_JSON)
			.body(body.formatted("x".repeat(101)))
			.exchange()
			.expectStatus()
			.isBadRequest()
			.expectHeader()
			.contentType(MediaType.APPLICATION_PROBLEM_JSON);
	}

	/**
	 * Creates an order, and does something before its window ends. A machine that is too
	 * slow has more attempts.
	 */
	private Order createInTime(Predicate<Order> action) {
		for (int attempt = 1;; attempt++) {
			Order order = create();
			if (action.test(order)) {
				return order;
			}
			assertThat(Instant.now()).isAfterOrEqualTo(order.closesAt());
			assertThat(attempt).isLessThan(10);
		}
	}

	private boolean isPaid(Order order) {
		return this.http.post()
			.uri("/orders/{id}/pay", order.id())
			.exchange()
			.returnResult(Void.class)
			.getStatus()
			.is2xxSuccessful();
	}

	private boolean isNotToBeClosed(Order order) {
		return this.http.get().uri(task(order)).exchange().returnResult(Void.class).getStatus().is2xxSuccessful()
				&& this.http.delete()
					.uri(task(order))
					.exchange()
					.returnResult(Void.class)
					.getStatus()
					.equals(HttpStatus.NO_CONTENT);
	}

	private static String task(Order order) {
		return "/actuator/delayedtasks/close-order/" + order.id();
	}

	private Order create() {
		return body(this.http.post().uri("/orders").exchange().expectStatus().isCreated());
	}

	private Order get(Order order) {
		return body(this.http.get().uri("/orders/{id}", order.id()).exchange().expectStatus().isOk());
	}

	private void pay(Order order, HttpStatus expected) {
		this.http.post().uri("/orders/{id}/pay", order.id()).exchange().expectStatus().isEqualTo(expected);
	}

	private Order awaitClosed(Order order) {
		return await().until(() -> get(order), (current) -> current.status() == Order.Status.CLOSED);
	}

	private static Order body(RestTestClient.ResponseSpec response) {
		Order order = response.expectBody(Order.class).returnResult().getResponseBody();
		assertThat(order).isNotNull();
		return order;
	}

}

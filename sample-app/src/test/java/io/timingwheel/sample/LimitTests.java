package io.timingwheel.sample;

import java.net.URI;

import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.resttestclient.autoconfigure.AutoConfigureRestTestClient;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.test.web.servlet.client.RestTestClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A wheel that takes one task, and quotes that take too long.
 */
@SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
		properties = { "timingwheel.max-pending=1", "reports.cron=-", "orders.payment-window=1h", "quotes.limit=1s" })
@AutoConfigureRestTestClient
class LimitTests {

	@Autowired
	private RestTestClient http;

	@Test
	void anOrderThatCouldNotBeClosedIsNotTaken() {
		URI order = order();
		this.http.post()
			.uri("/orders")
			.exchange()
			.expectStatus()
			.isEqualTo(HttpStatus.SERVICE_UNAVAILABLE)
			.expectHeader()
			.contentType(MediaType.APPLICATION_PROBLEM_JSON);
		this.http.get().uri("/orders").exchange().expectBody().jsonPath("$.total").isEqualTo(1);
		pay(order);
		pay(order());
	}

	private URI order() {
		return this.http.post()
			.uri("/orders")
			.exchange()
			.expectStatus()
			.isCreated()
			.returnResult(String.class)
			.getResponseHeaders()
			.getLocation();
	}

	private void pay(URI order) {
		this.http.post().uri(order.getPath() + "/pay").exchange().expectStatus().isOk();
	}

	@Test
	void theLatestQuoteIsTheLastKnownOneIfAskingTakesTooLong() {
		this.http.get().uri("/quotes/oolong/latest?work=30s").exchange().expectStatus().isEqualTo(504);
		// A machine that stalls may reach the limit.
		String known = await().ignoreExceptions().until(() -> quote("1ms"), (quote) -> !quote.isEmpty());
		assertThat(known).matches("\\{\"item\":\"oolong\",\"cents\":[1-9]\\d*}");
		assertThat(quote("30s")).isEqualTo(known);
	}

	private String quote(String work) {
		return this.http.get()
			.uri("/quotes/oolong/latest?work=" + work)
			.exchange()
			.expectStatus()
			.isOk()
			.returnResult(String.class)
			.getResponseBody();
	}

}

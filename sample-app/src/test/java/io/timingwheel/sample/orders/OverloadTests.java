package io.timingwheel.sample.orders;

import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.resttestclient.autoconfigure.AutoConfigureRestTestClient;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.test.web.servlet.client.RestTestClient;

@SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
		properties = { "timingwheel.max-pending=1", "reports.cron=-", "orders.payment-window=1h" })
@AutoConfigureRestTestClient
class OverloadTests {

	@Test
	void anOrderThatCouldNotBeClosedIsNotTaken(@Autowired RestTestClient http) {
		http.post().uri("/orders").exchange().expectStatus().isCreated();
		http.post()
			.uri("/orders")
			.exchange()
			.expectStatus()
			.isEqualTo(HttpStatus.SERVICE_UNAVAILABLE)
			.expectHeader()
			.contentType(MediaType.APPLICATION_PROBLEM_JSON);
		http.get().uri("/orders").exchange().expectBody().jsonPath("$.total").isEqualTo(1);
		http.post().uri("/orders/1/pay").exchange().expectStatus().isOk();
		http.post().uri("/orders").exchange().expectStatus().isCreated();
	}

}

package io.timingwheel.sample;

import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;

import com.jayway.jsonpath.JsonPath;
import io.timingwheel.test.AutoConfigureVirtualTime;
import io.timingwheel.test.VirtualTime;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.resttestclient.autoconfigure.AutoConfigureRestTestClient;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.http.HttpMethod;
import org.springframework.http.MediaType;
import org.springframework.test.json.JsonContent;
import org.springframework.test.web.servlet.client.RestTestClient;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the sample answers, and what happens after half an hour or ten minutes, without
 * the wait.
 */
@SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
		properties = { "orders.payment-window=30m", "drivers.silence=10m" })
@AutoConfigureRestTestClient
@AutoConfigureVirtualTime
class SampleTests {

	private static final Duration WINDOW = Duration.ofMinutes(30);

	@Autowired
	private VirtualTime time;

	@Autowired
	private RestTestClient http;

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			GET  | /orders/999999                      | 404 | There is no order 999999
			GET  | /orders/first                       | 400 | id must be a whole number, not 'first'
			GET  | /drivers/nobody                     | 404 | Nothing was ever heard of driver nobody
			POST | /drivers/heartbeats?count=0         | 400 | count must be from 1 to 10000, not 0
			POST | /drivers/heartbeats                 | 400 | Required parameter 'count' is not present.
			POST | /drivers/heartbeats?count=1&spread=61s | 400 | spread must be from 0s to 60s
			GET  | /quotes/tea?work=long               | 400 | work must be a duration such as 500ms or 2s, not 'long'
			GET  | /quotes/tea?work=61s                | 400 | work must be from 0s to 60s
			""")
	void aBadRequestIsExplained(String method, String uri, int status, String detail) {
		this.http.method(HttpMethod.valueOf(method))
			.uri(URI.create(uri))
			.exchange()
			.expectStatus()
			.isEqualTo(status)
			.expectHeader()
			.contentType(MediaType.APPLICATION_PROBLEM_JSON)
			.expectBody()
			.jsonPath("$.detail")
			.isEqualTo(detail);
	}

	@Test
	void anOrderIsCreatedPendingAndABadOneIsRefused() {
		this.http.post()
			.uri("/orders")
			.body(Map.of("item", "tea"))
			.exchange()
			.expectStatus()
			.isCreated()
			.expectHeader()
			.valueMatches("Location", ".*/orders/\\d+")
			.expectBody()
			.json("""
					{"item":"tea","status":"PENDING","settledAt":null}""");
		for (String item : List.of(" ", "x".repeat(101))) {
			this.http.post().uri("/orders").body(Map.of("item", item)).exchange().expectStatus().isBadRequest();
		}
	}

	@Test
	void anUnpaidOrderClosesAtTheEndOfItsWindowAndNotBefore() {
		int order = order();
		assertThat(this.time).hasPending("close-order", order).dueIn(WINDOW);
		this.time.advance(WINDOW.minusMillis(1));
		assertStatus("/orders/" + order, "PENDING");
		this.time.advance(Duration.ofMillis(1));
		assertStatus("/orders/" + order, "CLOSED");
		post("/orders/" + order + "/pay", 409);
		assertStatus("/orders/" + order, "CLOSED");
	}

	@Test
	void aPaidOrderStaysPaidAndASecondPaymentChangesNothing() {
		int order = order();
		post("/orders/" + order + "/pay", 200);
		String paid = get("/orders/" + order).getJson();
		post("/orders/" + order + "/pay", 200);
		this.time.advance(WINDOW);
		assertThat(get("/orders/" + order).getJson()).isEqualTo(paid).contains("PAID");
	}

	@Test
	void anOrderWhoseClosingIsDeletedStaysPending() {
		int order = order();
		String task = "/actuator/delayedtasks/close-order/" + order;
		get(task);
		for (int status : new int[] { 204, 404 }) {
			this.http.delete().uri(task).exchange().expectStatus().isEqualTo(status);
		}
		this.time.advance(WINDOW);
		assertStatus("/orders/" + order, "PENDING");
		post("/orders/" + order + "/pay", 200);
	}

	@Test
	void eachNightOfTheSampleHasOneReport() {
		int order = order();
		this.time.advance(Duration.ofMinutes(1));
		int next = order();
		this.time.advance(Duration.ofMinutes(2));
		assertThat(get("/reports")).extractingPath("$[0:3].total").asArray().containsExactly(next, next, order);
	}

	@Test
	void heartbeatsKeepADriverOnlineAndSilenceTakesItOffline() {
		for (int i = 0; i < 6; i++) {
			post("/drivers/ada/heartbeat", 200);
			this.time.advance(Duration.ofMinutes(9));
			assertStatus("/drivers/ada", "ONLINE");
		}
		this.time.advance(Duration.ofMinutes(1));
		assertStatus("/drivers/ada", "OFFLINE");
		post("/drivers/ada/heartbeat", 200);
		assertStatus("/drivers/ada", "ONLINE");
		assertThat(get("/drivers/ada")).extractingPath("$.heartbeats").isEqualTo(7);
	}

	@Test
	void aFleetComesOnlineInTheCourseOfASpanAndGoesOffline() {
		post("/drivers/heartbeats?count=1010&spread=10s", 200);
		this.http.get().uri("/drivers/van-01010").exchange().expectStatus().isNotFound();
		this.time.advance(Duration.ofSeconds(10));
		assertStatus("/drivers/van-01010", "ONLINE");
		this.time.advance(Duration.ofMinutes(10));
		assertStatus("/drivers/van-01010", "OFFLINE");
	}

	@Test
	void theIndexIsBuiltWhenTheDocumentsAreQuietAndWithinItsLongestWait() {
		for (int second = 0; second < 12; second++) {
			post("/search/changes", 200);
			this.time.advance(Duration.ofSeconds(1));
		}
		assertBuilds(1, 10);
		this.time.advance(Duration.ofSeconds(1));
		assertBuilds(2, 12);
	}

	private void assertBuilds(int builds, int indexed) {
		assertThat(get("/search")).extractingPath("$.builds").isEqualTo(builds);
		assertThat(get("/search")).extractingPath("$.indexed").isEqualTo(indexed);
	}

	@Test
	void endpointsAndMetersGoByVirtualTime() {
		this.time.advance(Duration.ofDays(3));
		post("/drivers/bob/heartbeat", 200);
		assertThat(get("/actuator/delayedtasks/driver-silent")).extractingPath("$.next[0].dueAt")
			.isEqualTo(this.time.now().plus(Duration.ofMinutes(10)).toString());
		assertThat(get("/actuator/metrics/timingwheel.tasks.pending?tag=name:driver-silent"))
			.extractingPath("$.measurements[0].value")
			.isEqualTo(1.0);
		this.time.advance(Duration.ofMinutes(10));
		assertThat(get("/actuator/metrics/timingwheel.tasks.lateness?tag=name:driver-silent"))
			.extractingPath("$.measurements[?(@.statistic=='MAX')].value")
			.asArray()
			.containsExactly(0.0);
		assertThat(get("/actuator/health")).extractingPath("$.components.timingWheel.status").isEqualTo("UP");
	}

	private int order() {
		String body = this.http.post()
			.uri("/orders")
			.exchange()
			.expectStatus()
			.isCreated()
			.returnResult(String.class)
			.getResponseBody();
		return JsonPath.read(body, "$.id");
	}

	private void post(String uri, int status) {
		this.http.post().uri(uri).exchange().expectStatus().isEqualTo(status);
	}

	private JsonContent get(String uri) {
		return new JsonContent(
				this.http.get().uri(uri).exchange().expectStatus().isOk().returnResult(String.class).getResponseBody());
	}

	private void assertStatus(String uri, String status) {
		assertThat(get(uri)).extractingPath("$.status").isEqualTo(status);
	}

}

package io.timingwheel.sample;

import java.time.Duration;
import java.time.Instant;

import io.timingwheel.test.AutoConfigureVirtualTime;
import io.timingwheel.test.VirtualTime;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.resttestclient.autoconfigure.AutoConfigureRestTestClient;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.test.json.JsonContent;
import org.springframework.test.web.servlet.client.RestTestClient;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What happens after half an hour and after ten minutes, without the wait. The
 * {@link EndToEndTest end-to-end tests} wait for it with shorter times.
 */
@SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
		properties = { "orders.payment-window=30m", "drivers.silence=10m" })
@AutoConfigureRestTestClient
@AutoConfigureVirtualTime
class VirtualTimeTests {

	@Autowired
	private VirtualTime time;

	@Autowired
	private RestTestClient http;

	@Test
	void anUnpaidOrderClosesAtTheEndOfItsWindowAndNotBefore() {
		this.http.post().uri("/orders").exchange().expectStatus().isCreated();
		assertThat(this.time).hasPending("close-order").dueIn(Duration.ofMinutes(30));
		this.time.advance(Duration.ofMinutes(30).minusMillis(1));
		expect("/orders/1", "PENDING");
		this.time.advance(Duration.ofMillis(1));
		expect("/orders/1", "CLOSED");
	}

	@Test
	void heartbeatsKeepADriverOnlineAndSilenceTakesItOffline() {
		for (int i = 0; i < 6; i++) {
			heartbeat("ada");
			this.time.advance(Duration.ofMinutes(9));
			expect("/drivers/ada", "ONLINE");
		}
		this.time.advance(Duration.ofMinutes(1));
		expect("/drivers/ada", "OFFLINE");
		heartbeat("ada");
		expect("/drivers/ada", "ONLINE");
	}

	@Test
	void theIndexIsBuiltWhenTheDocumentsAreQuietAndWithinItsLongestWait() {
		for (int second = 0; second < 12; second++) {
			this.http.post().uri("/search/changes").exchange().expectStatus().isOk();
			this.time.advance(Duration.ofSeconds(1));
		}
		expectBuilds(1, 10);
		this.time.advance(Duration.ofSeconds(1));
		expectBuilds(2, 12);
	}

	@Test
	void endpointsAndMetersGoByVirtualTime() {
		this.time.advance(Duration.ofDays(3));
		heartbeat("bob");
		Instant due = this.time.now().plus(Duration.ofMinutes(10));
		assertThat(get("/actuator/timingwheel")).extractingPath("$.nextExpiry")
			.asString()
			.satisfies((text) -> assertThat(Instant.parse(text)).isBetween(this.time.now(), due));
		assertThat(get("/actuator/delayedtasks/driver-silent")).extractingPath("$.next[0].dueAt")
			.isEqualTo(due.toString());
		String pending = "/actuator/metrics/timingwheel.tasks.pending?tag=name:driver-silent";
		assertThat(get(pending)).extractingPath("$.measurements[0].value").isEqualTo(1.0);
		this.time.advance(Duration.ofMinutes(10));
		assertThat(get(pending)).extractingPath("$.measurements[0].value").isEqualTo(0.0);
		assertThat(get("/actuator/metrics/timingwheel.tasks.lateness?tag=name:driver-silent"))
			.extractingPath("$.measurements[?(@.statistic=='MAX')].value")
			.asArray()
			.containsExactly(0.0);
		assertThat(get("/actuator/health")).extractingPath("$.components.timingWheel.status").isEqualTo("UP");
	}

	private JsonContent get(String uri) {
		return new JsonContent(this.http.get()
			.uri(uri)
			.exchange()
			.expectStatus()
			.isOk()
			.expectBody(String.class)
			.returnResult()
			.getResponseBody());
	}

	private void expectBuilds(int builds, int indexed) {
		this.http.get()
			.uri("/search")
			.exchange()
			.expectBody()
			.jsonPath("$.builds")
			.isEqualTo(builds)
			.jsonPath("$.indexed")
			.isEqualTo(indexed);
	}

	private void heartbeat(String driver) {
		this.http.post().uri("/drivers/{id}/heartbeat", driver).exchange().expectStatus().isOk();
	}

	private void expect(String uri, String status) {
		this.http.get().uri(uri).exchange().expectStatus().isOk().expectBody().jsonPath("$.status").isEqualTo(status);
	}

}

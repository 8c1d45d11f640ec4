package io.timingwheel.sample.drivers;

import java.time.Duration;
import java.time.Instant;

import io.timingwheel.sample.EndToEndTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.MediaType;
import org.springframework.test.web.servlet.client.RestTestClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

@EndToEndTest
class DriverTests {

	@Autowired
	private RestTestClient http;

	@Test
	void silenceTakesADriverOfflineAndAHeartbeatBringsItBack() {
		Driver driver = heartbeat("silent");
		assertThat(driver.status()).isEqualTo(Driver.Status.ONLINE);
		assertThat(driver.offlineAt()).isEqualTo(driver.lastHeartbeat().plusSeconds(3));
		await().until(() -> get("silent").status() == Driver.Status.OFFLINE);
		assertThat(heartbeat("silent")).extracting(Driver::status, Driver::heartbeats)
			.containsExactly(Driver.Status.ONLINE, 2L);
		await().until(() -> get("silent").status() == Driver.Status.OFFLINE);
	}

	@Test
	void heartbeatsKeepADriverOnline() {
		heartbeat("lively");
		heartbeat("quiet");
		await().pollInterval(Duration.ofMillis(100)).until(() -> {
			assertOnline("lively");
			heartbeat("lively");
			return get("quiet").status() == Driver.Status.OFFLINE;
		});
		await().untilAsserted(() -> {
			heartbeat("lively");
			this.http.get().uri("/actuator/delayedtasks/driver-silent/lively").exchange().expectStatus().isOk();
		});
	}

	@Test
	void aFleetComesOnlineAndGoesOffline() {
		this.http.post().uri("/drivers/heartbeats?count=1000").exchange().expectStatus().isOk();
		assertOnline("van-00001");
		assertOnline("van-01000");
		assertThat(list().total()).isGreaterThanOrEqualTo(1000);
		assertThat(list().drivers()).hasSize(50);
		await().until(() -> list().online() == 0);
	}

	@Test
	void theHeartbeatsOfAFleetCanBeSpread() {
		Instant before = Instant.now();
		this.http.post().uri("/drivers/heartbeats?count=1010&spread=1s").exchange().expectStatus().isOk();
		await().until(() -> status("van-01010").is2xxSuccessful());
		Instant last = get("van-01010").lastHeartbeat();
		assertThat(Duration.between(before, last)).isGreaterThan(Duration.ofMillis(900));
		assertThat(get("van-00001").lastHeartbeat()).isBetween(before, last);
	}

	@ParameterizedTest
	@ValueSource(strings = { "?count=0", "?count=-1", "?count=10001", "?count=many", "", "?count=1&spread=-1s",
			"?count=1&spread=61s", "?count=1&spread=soon" })
	void aBadFleetIsABadRequest(String query) {
		this.http.post()
			.uri("/drivers/heartbeats" + query)
			.exchange()
			.expectStatus()
			.isBadRequest()
			.expectHeader()
			.contentType(MediaType.APPLICATION_PROBLEM_JSON);
	}

	@Test
	void anUnknownDriverIsNotFound() {
		this.http.get()
			.uri("/drivers/nobody")
			.exchange()
			.expectStatus()
			.isNotFound()
			.expectBody()
			.jsonPath("$.detail")
			.isEqualTo("Nothing was ever heard of driver nobody");
	}

	/**
	 * Asserts that a driver is online, unless a slow machine has let the time of silence
	 * pass.
	 */
	private void assertOnline(String id) {
		Driver driver = get(id);
		if (driver.status() != Driver.Status.ONLINE) {
			assertThat(Instant.now()).isAfterOrEqualTo(driver.lastHeartbeat().plusSeconds(3));
		}
	}

	private HttpStatusCode status(String id) {
		return this.http.get().uri("/drivers/{id}", id).exchange().returnResult(Void.class).getStatus();
	}

	private Driver heartbeat(String id) {
		return body(this.http.post().uri("/drivers/{id}/heartbeat", id).exchange(), Driver.class);
	}

	private Driver get(String id) {
		return body(this.http.get().uri("/drivers/{id}", id).exchange(), Driver.class);
	}

	private DriverController.DriverList list() {
		return body(this.http.get().uri("/drivers").exchange(), DriverController.DriverList.class);
	}

	private static <T> T body(RestTestClient.ResponseSpec response, Class<T> type) {
		T body = response.expectStatus().isOk().expectBody(type).returnResult().getResponseBody();
		assertThat(body).isNotNull();
		return body;
	}

}

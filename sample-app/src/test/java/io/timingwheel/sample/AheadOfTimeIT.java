package io.timingwheel.sample;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.http.HttpStatus;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The packaged application in a JVM of its own, with the code that the build has
 * generated ahead of time.
 */
class AheadOfTimeIT {

	@TempDir
	private static Path directory;

	private static PackagedApplication application;

	@BeforeAll
	static void start() throws IOException {
		application = PackagedApplication.start(directory, "-Dspring.aot.enabled=true", "--orders.payment-window=5s",
				"--quotes.limit=5s", "--reports.cron=* * * * * *");
	}

	@AfterAll
	static void stop() throws InterruptedException {
		if (application != null) {
			application.stop();
		}
	}

	@Test
	void startsFromGeneratedCode() throws IOException {
		assertThat(application.output()).contains("Starting AOT-processed SampleApplication");
	}

	@Test
	void anUnpaidOrderClosesAndAPaidOneIsKept() {
		Number paid = application.placePaidOrder();
		Number unpaid = application.placeOrder();
		await().atMost(Duration.ofMinutes(2)).untilAsserted(() -> assertThat(status(unpaid)).isEqualTo("CLOSED"));
		Map<String, Object> closed = application.order(unpaid);
		assertThat(Instant.parse((String) closed.get("settledAt")))
			.isAfterOrEqualTo(Instant.parse((String) closed.get("closesAt")));
		assertThat(status(paid)).isEqualTo("PAID");
	}

	@Test
	void theReportIsMadeAgainAndAgain() {
		await().atMost(Duration.ofMinutes(2))
			.untilAsserted(() -> application.http()
				.get()
				.uri("/reports")
				.exchange()
				.expectStatus()
				.isOk()
				.expectBody()
				.jsonPath("$[2].createdAt")
				.exists());
	}

	@Test
	void aSlowCallIsCut() {
		// A machine that stalls may reach the limit.
		await().untilAsserted(
				() -> application.http().get().uri("/quotes/tea?work=10ms").exchange().expectStatus().isOk());
		application.http()
			.get()
			.uri("/quotes/tea?work=60s")
			.exchange()
			.expectStatus()
			.isEqualTo(HttpStatus.GATEWAY_TIMEOUT);
	}

	@Test
	void theWheelShowsItself() {
		application.http()
			.get()
			.uri("/actuator/timingwheel")
			.exchange()
			.expectStatus()
			.isOk()
			.expectBody()
			.jsonPath("$.state")
			.isEqualTo("RUNNING");
	}

	private static Object status(Number order) {
		return application.order(order).get("status");
	}

}

package io.timingwheel.sample;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.core.ParameterizedTypeReference;
import org.springframework.http.HttpStatus;
import org.springframework.test.web.servlet.client.RestTestClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The packaged application in a JVM of its own, started from what the build has generated
 * ahead of time.
 */
class AheadOfTimeIT {

	private static final Pattern PORT = Pattern.compile("Tomcat started on port (\\d+)");

	private static final Duration START = Duration.ofMinutes(2);

	@TempDir
	private static Path directory;

	private static Process application;

	private static Path output;

	private static RestTestClient http;

	@BeforeAll
	static void start() throws IOException {
		output = directory.resolve("output");
		application = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
				"-Dspring.aot.enabled=true", "-jar", System.getProperty("sample-app.jar"), "--server.port=0",
				"--orders.payment-window=2s", "--quotes.limit=300ms")
			.redirectErrorStream(true)
			.redirectOutput(output.toFile())
			.start();
		await().atMost(START)
			.untilAsserted(() -> assertThat(!application.isAlive() || port() > 0).as(output()).isTrue());
		assertThat(application.isAlive()).as(output()).isTrue();
		http = RestTestClient.bindToServer().baseUrl("http://localhost:" + port()).build();
	}

	@AfterAll
	static void stop() throws InterruptedException {
		application.destroy();
		application.waitFor();
	}

	@Test
	void startsFromGeneratedCode() throws IOException {
		assertThat(output()).contains("Starting AOT-processed SampleApplication");
	}

	@Test
	void anUnpaidOrderClosesAndAPaidOneIsKept() {
		Number unpaid = order();
		Number paid = order();
		assertThat(status(unpaid)).isEqualTo("PENDING");
		http.post().uri("/orders/{id}/pay", paid).exchange().expectStatus().isOk();
		Number later = order();
		await().untilAsserted(() -> assertThat(status(later)).isEqualTo("CLOSED"));
		assertThat(status(unpaid)).isEqualTo("CLOSED");
		assertThat(status(paid)).isEqualTo("PAID");
	}

	@Test
	void aSlowCallIsCut() {
		http.get().uri("/quotes/tea?work=10ms").exchange().expectStatus().isOk();
		http.get().uri("/quotes/tea?work=10s").exchange().expectStatus().isEqualTo(HttpStatus.GATEWAY_TIMEOUT);
	}

	@Test
	void theWheelShowsItself() {
		http.get()
			.uri("/actuator/timingwheel")
			.exchange()
			.expectStatus()
			.isOk()
			.expectBody()
			.jsonPath("$.state")
			.isEqualTo("RUNNING");
	}

	private static Number order() {
		Map<String, Object> order = http.post()
			.uri("/orders")
			.exchange()
			.expectStatus()
			.isCreated()
			.expectBody(new ParameterizedTypeReference<Map<String, Object>>() {
			})
			.returnResult()
			.getResponseBody();
		return (Number) order.get("id");
	}

	private static Object status(Number order) {
		return http.get()
			.uri("/orders/{id}", order)
			.exchange()
			.expectBody(new ParameterizedTypeReference<Map<String, Object>>() {
			})
			.returnResult()
			.getResponseBody()
			.get("status");
	}

	private static int port() throws IOException {
		Matcher matcher = PORT.matcher(output());
		return matcher.find() ? Integer.parseInt(matcher.group(1)) : 0;
	}

	private static String output() throws IOException {
		return Files.readString(output);
	}

}

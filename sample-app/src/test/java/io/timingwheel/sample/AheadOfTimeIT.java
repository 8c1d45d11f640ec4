package io.timingwheel.sample;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import com.jayway.jsonpath.JsonPath;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.http.HttpStatus;
import org.springframework.test.web.servlet.client.RestTestClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The packaged application in a JVM of its own, with the code that the build has
 * generated ahead of time.
 */
@Tag("faults")
class AheadOfTimeIT {

	private static final Pattern PORT = Pattern.compile("Tomcat started on port (\\d+)");

	private static final Duration PATIENCE = Duration.ofMinutes(2);

	@TempDir
	private static Path directory;

	private static Path output;

	private static Process process;

	private static RestTestClient http;

	@BeforeAll
	static void start() throws IOException {
		output = directory.resolve("output.txt");
		process = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
				"-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Dspring.aot.enabled=true", "-jar",
				System.getProperty("sample-app.jar"), "--server.port=0", "--orders.payment-window=5s",
				"--quotes.limit=5s", "--reports.cron=* * * * * *")
			.redirectErrorStream(true)
			.redirectOutput(output.toFile())
			.start();
		await().atMost(PATIENCE)
			.untilAsserted(() -> assertThat(!process.isAlive() || port() > 0).as(output()).isTrue());
		assertThat(process.isAlive()).as(output()).isTrue();
		http = RestTestClient.bindToServer().baseUrl("http://localhost:" + port()).build();
	}

	@AfterAll
	static void stop() throws InterruptedException {
		process.destroy();
		if (!process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
			process.destroyForcibly();
		}
	}

	private static String output() throws IOException {
		return Files.readString(output);
	}

	private static int port() throws IOException {
		Matcher port = PORT.matcher(output());
		return port.find() ? Integer.parseInt(port.group(1)) : 0;
	}

	private static String get(String path) {
		return http.get().uri(path).exchange().expectStatus().isOk().returnResult(String.class).getResponseBody();
	}

	@Test
	void startsFromGeneratedCode() throws IOException {
		assertThat(output()).contains("Starting AOT-processed SampleApplication");
		assertThat(get("/actuator/timingwheel")).contains("RUNNING");
	}

	@Test
	void anUnpaidOrderClosesAndTheReportIsMadeAgainAndAgain() {
		String order = http.post().uri("/orders").exchange().returnResult(String.class).getResponseBody();
		await().atMost(PATIENCE).until(() -> get("/orders/" + JsonPath.read(order, "$.id")).contains("CLOSED"));
		String closed = get("/orders/" + JsonPath.read(order, "$.id"));
		assertThat(Instant.parse(JsonPath.read(closed, "$.settledAt")))
			.isAfterOrEqualTo(Instant.parse(JsonPath.read(closed, "$.closesAt")));
		await().atMost(PATIENCE).until(() -> JsonPath.<Integer>read(get("/reports"), "$.length()") > 2);
	}

	@Test
	void aSlowCallIsCutOrGivesTheLastKnownResult() {
		// A machine that stalls may reach the limit.
		await().untilAsserted(() -> get("/quotes/tea?work=10ms"));
		http.get().uri("/quotes/tea?work=60s").exchange().expectStatus().isEqualTo(HttpStatus.GATEWAY_TIMEOUT);
		http.get().uri("/quotes/new/latest?work=60s").exchange().expectStatus().isEqualTo(HttpStatus.GATEWAY_TIMEOUT);
		assertThat(get("/quotes/tea/latest?work=60s")).contains("\"item\":\"tea\"");
	}

}

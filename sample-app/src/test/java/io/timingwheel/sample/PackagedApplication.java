package io.timingwheel.sample;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.springframework.core.ParameterizedTypeReference;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.test.web.servlet.client.RestTestClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The packaged application in a JVM of its own.
 */
final class PackagedApplication {

	private static final Pattern PORT = Pattern.compile("Tomcat started on port (\\d+)");

	private static final Duration START = Duration.ofMinutes(2);

	private final Process process;

	private final Path output;

	private final RestTestClient http;

	private PackagedApplication(Process process, Path output) throws IOException {
		this.process = process;
		this.output = output;
		try {
			await().atMost(START)
				.untilAsserted(() -> assertThat(!process.isAlive() || port() > 0).as(output()).isTrue());
			assertThat(process.isAlive()).as(output()).isTrue();
		}
		catch (Throwable ex) {
			process.destroyForcibly();
			throw ex;
		}
		this.http = RestTestClient.bindToServer().baseUrl("http://localhost:" + port()).build();
	}

	/**
	 * Starts the application, and waits until it answers.
	 * @param directory for its output
	 * @param jvmOption an option of the JVM
	 * @param arguments what else to tell it
	 */
	static PackagedApplication start(Path directory, String jvmOption, String... arguments) throws IOException {
		Path output = Files.createTempFile(directory, "output", ".txt");
		List<String> command = new ArrayList<>(List.of(
				Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-XX:TieredStopAtLevel=1",
				"-XX:+UseSerialGC", jvmOption, "-jar", System.getProperty("sample-app.jar"), "--server.port=0"));
		command.addAll(List.of(arguments));
		return new PackagedApplication(
				new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile()).start(), output);
	}

	RestTestClient http() {
		return this.http;
	}

	Number placeOrder() {
		return (Number) this.http.post()
			.uri("/orders")
			.exchange()
			.expectStatus()
			.isCreated()
			.expectBody(new ParameterizedTypeReference<Map<String, Object>>() {
			})
			.returnResult()
			.getResponseBody()
			.get("id");
	}

	/**
	 * Places an order that is paid in time. On a machine that stalls, an order may close
	 * before its payment.
	 */
	Number placePaidOrder() {
		for (int attempt = 1;; attempt++) {
			Number order = placeOrder();
			HttpStatusCode status = this.http.post()
				.uri("/orders/{id}/pay", order)
				.exchange()
				.returnResult()
				.getStatus();
			if (status.is2xxSuccessful()) {
				return order;
			}
			assertThat(status).isEqualTo(HttpStatus.CONFLICT);
			assertThat(attempt).as("orders that closed before their payment").isLessThan(10);
		}
	}

	Map<String, Object> order(Number id) {
		return this.http.get()
			.uri("/orders/{id}", id)
			.exchange()
			.expectStatus()
			.isOk()
			.expectBody(new ParameterizedTypeReference<Map<String, Object>>() {
			})
			.returnResult()
			.getResponseBody();
	}

	String output() throws IOException {
		return Files.readString(this.output);
	}

	/**
	 * Kills the process, as {@code kill -9} does.
	 */
	void kill() throws InterruptedException {
		this.process.destroyForcibly();
		this.process.waitFor();
	}

	/**
	 * Ends the process, and kills a process that does not end.
	 */
	void stop() throws InterruptedException {
		this.process.destroy();
		if (!this.process.waitFor(START.toSeconds(), TimeUnit.SECONDS)) {
			kill();
		}
	}

	private int port() throws IOException {
		Matcher matcher = PORT.matcher(output());
		return matcher.find() ? Integer.parseInt(matcher.group(1)) : 0;
	}

}

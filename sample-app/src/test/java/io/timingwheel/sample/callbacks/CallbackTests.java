package io.timingwheel.sample.callbacks;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.timingwheel.sample.DurableEndToEndTest;
import io.timingwheel.sample.callbacks.CallbackController.Accepted;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.test.web.servlet.client.RestTestClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

@DurableEndToEndTest
class CallbackTests {

	@Autowired
	private RestTestClient http;

	private final Queue<Received> received = new ConcurrentLinkedQueue<>();

	private HttpServer server;

	private volatile int failures;

	private volatile int failure = 503;

	@BeforeEach
	void startServer() throws IOException {
		this.server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
		this.server.createContext("/", this::receive);
		this.server.start();
	}

	@AfterEach
	void stopServer() {
		this.server.stop(0);
	}

	private void receive(HttpExchange exchange) throws IOException {
		String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
		this.received.add(new Received(exchange.getRequestMethod(), exchange.getRequestURI().toString(),
				exchange.getRequestHeaders().getFirst("X-Order"),
				exchange.getRequestHeaders().getFirst("Idempotency-Key"), body, Instant.now()));
		exchange.sendResponseHeaders((this.received.size() > this.failures) ? 204 : this.failure, -1);
		exchange.close();
	}

	@Test
	void aCallbackIsSentAtItsTime() {
		Instant before = Instant.now();
		Accepted accepted = create(Map.of("url", url("/paid?order=1"), "method", "PUT", "headers",
				Map.of("X-Order", "1"), "body", "{\"paid\":true}", "delay", "300ms"));
		assertThat(accepted.dueAt()).isAfterOrEqualTo(before.plusMillis(299));
		await().until(() -> this.received.size() == 1);
		assertThat(this.received).singleElement().satisfies((callback) -> {
			assertThat(callback.method()).isEqualTo("PUT");
			assertThat(callback.uri()).isEqualTo("/paid?order=1");
			assertThat(callback.header()).isEqualTo("1");
			assertThat(callback.idempotencyKey()).isEqualTo(accepted.id());
			assertThat(callback.body()).isEqualTo("{\"paid\":true}");
			assertThat(callback.at()).isAfterOrEqualTo(accepted.dueAt());
		});
		awaitGone(accepted);
	}

	@Test
	void aServerErrorIsTriedAgainWithTheSameIdempotencyKey() {
		this.failures = 2;
		Accepted accepted = create(Map.of("url", url("/flaky")));
		awaitGone(accepted);
		assertThat(this.received).hasSize(3).allMatch((call) -> call.idempotencyKey().equals(accepted.id()));
	}

	@ParameterizedTest
	@ValueSource(ints = { 404, 302 })
	void anyOtherAnswerIsFinal(int status) {
		this.failures = 1;
		this.failure = status;
		awaitGone(create(Map.of("url", url("/final"))));
		assertThat(this.received).hasSize(1);
	}

	@Test
	void whatCannotBeSentIsRefused() {
		List.of(Map.of(), Map.of("url", "http://example.org/"), Map.of("url", "file:///etc/passwd"),
				Map.of("url", "no url"), Map.of("url", "http://localhost:65536/"),
				Map.of("url", url("/"), "method", "CONNECT"), Map.of("url", url("/"), "delay", "-1s"),
				Map.of("url", url("/"), "headers", Map.of("Host", "example.org")),
				Map.of("url", url("/"), "headers", Map.of("Content-Type", "nonsense"), "body", "{}"),
				Map.of("url", url("/"), "headers", Map.of("X", "a\r\nY: b")))
			.forEach((request) -> this.http.post()
				.uri("/callbacks")
				.body(request)
				.exchange()
				.expectStatus()
				.isBadRequest()
				.expectBody()
				.jsonPath("$.detail")
				.isNotEmpty());
		assertThat(this.received).isEmpty();
	}

	private String url(String path) {
		return "http://localhost:" + this.server.getAddress().getPort() + path;
	}

	private Accepted create(Map<String, ?> request) {
		return this.http.post()
			.uri("/callbacks")
			.body(request)
			.exchange()
			.expectStatus()
			.isAccepted()
			.expectBody(Accepted.class)
			.returnResult()
			.getResponseBody();
	}

	private void awaitGone(Accepted accepted) {
		await().untilAsserted(() -> this.http.get()
			.uri("/actuator/delayedtasks/callback/{id}", accepted.id())
			.exchange()
			.expectStatus()
			.isNotFound());
	}

	private record Received(String method, String uri, String header, String idempotencyKey, String body, Instant at) {

	}

}

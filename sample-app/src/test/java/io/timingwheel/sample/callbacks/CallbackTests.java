package io.timingwheel.sample.callbacks;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.timingwheel.sample.DurableEndToEndTest;
import io.timingwheel.sample.callbacks.CallbackController.Accepted;
import io.timingwheel.test.VirtualTime;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.test.web.servlet.client.RestTestClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

@DurableEndToEndTest
class CallbackTests {

	@Autowired
	private RestTestClient http;

	@Autowired
	private VirtualTime time;

	private final List<Received> received = new CopyOnWriteArrayList<>();

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
				exchange.getRequestHeaders().getFirst("Idempotency-Key"), body));
		exchange.sendResponseHeaders((this.received.size() > this.failures) ? 204 : this.failure, -1);
		exchange.close();
	}

	@Test
	void aCallbackIsSentAtItsTime() {
		Accepted accepted = create(Map.of("url", url("/paid?order=1"), "method", "PUT", "headers",
				Map.of("X-Order", "1"), "body", "{\"paid\":true}", "delay", "10m"));
		assertThat(accepted.dueAt()).isEqualTo(this.time.now().plus(Duration.ofMinutes(10)));
		this.time.advance(Duration.ofMinutes(10).minusMillis(1));
		assertThat(this.received).isEmpty();
		this.time.advance(Duration.ofMillis(1));
		assertThat(this.received)
			.containsExactly(new Received("PUT", "/paid?order=1", "1", accepted.id(), "{\"paid\":true}"));
		assertThat(this.time).hasNoPending("callback");
	}

	@Test
	void aServerErrorIsTriedAgainWithTheSameIdempotencyKey() {
		this.failures = 2;
		Accepted accepted = create(Map.of("url", url("/flaky")));
		assertThatException().isThrownBy(() -> this.time.advance(Duration.ofMinutes(1))).withMessageContaining("503");
		assertThat(this.received).hasSize(3).allMatch((call) -> call.idempotencyKey().equals(accepted.id()));
		assertThat(this.time).hasNoPending("callback");
	}

	@ParameterizedTest
	@ValueSource(ints = { 404, 302 })
	void anyOtherAnswerIsFinal(int status) {
		this.failures = 1;
		this.failure = status;
		create(Map.of("url", url("/final")));
		this.time.advance(Duration.ofMinutes(1));
		assertThat(this.received).hasSize(1);
		assertThat(this.time).hasNoPending("callback");
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
		assertThat(this.time).hasNoPending("callback");
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

	private record Received(String method, String uri, String header, String idempotencyKey, String body) {

	}

}

package io.timingwheel.spring.actuate;

import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import com.jayway.jsonpath.JsonPath;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.Recurring;
import io.timingwheel.spring.annotation.TaskPolicy;
import io.timingwheel.spring.annotation.Timeout;
import io.timingwheel.spring.autoconfigure.TimingWheelBuilderCustomizer;
import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.support.Approved;
import io.timingwheel.support.JsonLines;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.HttpMethod;
import org.springframework.http.MediaType;
import org.springframework.test.web.servlet.client.RestTestClient;

import static org.awaitility.Awaitility.await;

/**
 * Tests that nobody changes the answers of the endpoints, or the details of health,
 * without saying so.
 */
@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT, classes = EndpointApprovalTests.Application.class,
		properties = { "management.endpoints.web.exposure.include=timingwheel,delayedtasks,health",
				"management.endpoint.delayedtasks.access=unrestricted",
				"management.endpoint.delayedtasks.show-values=always", "management.endpoint.health.show-details=always",
				"management.health.redis.enabled=false", "spring.datasource.url=jdbc:h2:mem:endpoint-approval",
				"timingwheel.store.type=jdbc", "timingwheel.store.node-id=node-a",
				"timingwheel.store.poll-interval=10ms", "timingwheel.tick=1ms" })
class EndpointApprovalTests {

	@Autowired
	private Application application;

	@Autowired
	private DelayedTaskOperations tasks;

	private final RestTestClient client;

	private final String actuator;

	private final List<String> lines = new ArrayList<>();

	EndpointApprovalTests(@Value("${local.server.port}") int port) {
		this.actuator = "http://localhost:%d/actuator".formatted(port);
		this.client = RestTestClient.bindToServer().build();
	}

	private void makeTasks() {
		this.application.close(5);
		this.tasks.schedule(Duration.ofHours(1), () -> {
		});
		this.application.remind(7);
		this.application.fail(1);
		this.application.fail(2);
		await().until(() -> dead() == 2);
	}

	private int dead() {
		return JsonPath.read(body(HttpMethod.GET, "/delayedtasks", null), "$.tasks.fail.dead");
	}

	@Test
	void theAnswersOfTheEndpointsAreTheApprovedOnes() {
		makeTasks();
		request(HttpMethod.GET, "/timingwheel");
		request(HttpMethod.GET, "/delayedtasks");
		request(HttpMethod.GET, "/delayedtasks?search=remind");
		request(HttpMethod.GET, "/delayedtasks?forecast=PT2H");
		request(HttpMethod.GET, "/delayedtasks?forecast=soon");
		request(HttpMethod.GET, "/delayedtasks/close");
		request(HttpMethod.GET, "/delayedtasks/close/5");
		request(HttpMethod.GET, "/delayedtasks/heartbeat");
		request(HttpMethod.GET, "/delayedtasks/remind");
		request(HttpMethod.GET, "/delayedtasks/remind/7");
		request(HttpMethod.GET, "/delayedtasks/digest");
		request(HttpMethod.GET, "/delayedtasks/fail");
		request(HttpMethod.GET, "/delayedtasks/fail?limit=1");
		request(HttpMethod.GET, "/delayedtasks/fail?limit=0");
		request(HttpMethod.GET, "/delayedtasks/fail?cursor=nonsense");
		request(HttpMethod.GET, "/delayedtasks/fail?dead=true");
		request(HttpMethod.GET, "/delayedtasks/close?dead=true");
		request(HttpMethod.GET, "/delayedtasks/absent");
		request(HttpMethod.GET, "/delayedtasks/close/absent");
		request(HttpMethod.POST, "/delayedtasks/close/5", "action", "reschedule", "delay", "PT2H");
		request(HttpMethod.POST, "/delayedtasks/close/5", "action", "reschedule");
		request(HttpMethod.POST, "/delayedtasks/close/5", "action", "explode");
		request(HttpMethod.POST, "/delayedtasks/close/5", "action", "requeue");
		request(HttpMethod.POST, "/delayedtasks/close/absent", "action", "run");
		request(HttpMethod.POST, "/delayedtasks/remind/7", "action", "reschedule", "delay", "2h");
		request(HttpMethod.DELETE, "/delayedtasks/remind/7");
		request(HttpMethod.DELETE, "/delayedtasks/close/absent");
		request(HttpMethod.POST, "/delayedtasks/close", "action", "pause");
		request(HttpMethod.POST, "/delayedtasks/close", "action", "resume");
		request(HttpMethod.POST, "/delayedtasks/close", "action", "delete-dead");
		request(HttpMethod.POST, "/delayedtasks/absent", "action", "pause");
		request(HttpMethod.POST, "/delayedtasks/fail", "action", "pause");
		request(HttpMethod.POST, "/delayedtasks/fail", "action", "requeue-dead", "error", "no stock");
		request(HttpMethod.POST, "/delayedtasks/fail", "action", "requeue-dead", "group", "no stock");
		request(HttpMethod.POST, "/delayedtasks/fail", "action", "delete-dead");
		request(HttpMethod.POST, "/delayedtasks/fail", "action", "resume");
		request(HttpMethod.POST, "/delayedtasks", "action", "pause");
		request(HttpMethod.POST, "/delayedtasks", "action", "resume");
		request(HttpMethod.POST, "/delayedtasks", "action", "explode");
		request(HttpMethod.GET, "/health/timingWheel");
		Approved.verify(getClass(), "endpoints", this.lines);
	}

	private void request(HttpMethod method, String path, String... parameters) {
		StringBuilder json = new StringBuilder();
		for (int i = 0; i < parameters.length; i += 2) {
			json.append(json.isEmpty() ? "{" : ", ")
				.append("\"%s\": \"%s\"".formatted(parameters[i], parameters[i + 1]));
		}
		String content = json.isEmpty() ? null : json.append("}").toString();
		var response = exchange(method, path, content);
		this.lines
			.add("%s %s%s -> %d".formatted(method, path, (content != null) ? " " + content : "", response.status()));
		if (!response.body().isEmpty()) {
			JsonLines.of(JsonPath.read(response.body(), "$"), (field, value) -> mask(path, field, value))
				.forEach((line) -> this.lines.add("\t" + line));
		}
	}

	/**
	 * The figures of the engine and of the node vary with the time that passes.
	 */
	private static @Nullable String mask(String path, String field, Object value) {
		boolean settings = List.of("wheelSize", "shards").contains(field) || field.endsWith(".level");
		boolean figures = path.equals("/timingwheel") || path.startsWith("/health") || field.endsWith(".inFlight");
		return (figures && value instanceof Number && !settings) ? "<number>" : null;
	}

	private String body(HttpMethod method, String path, @Nullable String content) {
		return exchange(method, path, content).body();
	}

	private Response exchange(HttpMethod method, String path, @Nullable String content) {
		RestTestClient.RequestBodySpec request = this.client.method(method)
			.uri(URI.create(this.actuator + path))
			.contentType(MediaType.APPLICATION_JSON);
		var result = ((content != null) ? request.body(content) : request).exchange().returnResult(String.class);
		String body = result.getResponseBody();
		return new Response(result.getStatus().value(), (body != null) ? body : "");
	}

	private record Response(int status, String body) {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

		@Bean
		TimingWheelBuilderCustomizer twoShards() {
			return (builder) -> builder.shards(2);
		}

		@Delayed(delay = "1h", key = "#orderId", name = "close")
		CompletableFuture<Void> close(long orderId) {
			return CompletableFuture.completedFuture(null);
		}

		@Recurring(every = "1h", initialDelay = "1h", name = "heartbeat")
		void beat() {
		}

		@Delayed(delay = "1h", key = "#userId", name = "remind", durable = true,
				policy = @TaskPolicy(maxConcurrent = 2, rate = "10/s"))
		void remind(long userId) {
		}

		@Delayed(delay = "0s", name = "fail", durable = true, policy = @TaskPolicy(maxAttempts = 1))
		void fail(long id) {
			throw new IllegalStateException("no stock");
		}

		@Recurring(cron = "0 0 0 1 1 *", zone = "UTC", name = "digest", durable = true)
		void digest() {
		}

		@Timeout("1s")
		void ask() {
		}

	}

}

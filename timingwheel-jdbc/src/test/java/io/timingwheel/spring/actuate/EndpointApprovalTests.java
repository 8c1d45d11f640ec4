package io.timingwheel.spring.actuate;

import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;

import com.jayway.jsonpath.JsonPath;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.Recurring;
import io.timingwheel.spring.annotation.TaskPolicy;
import io.timingwheel.spring.annotation.Timeout;
import io.timingwheel.spring.autoconfigure.TimingWheelBuilderCustomizer;
import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.support.Approved;
import io.timingwheel.support.JsonLines;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Nested;
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
import org.springframework.test.context.TestPropertySource;
import org.springframework.test.web.servlet.client.RestTestClient;

import static org.awaitility.Awaitility.await;

/**
 * The answers of the endpoints, their refusals, the details of health, and the meters,
 * which are the same with Spring MVC and with WebFlux.
 */
class EndpointApprovalTests {

	private static final String REQUESTS = """
			GET /timingwheel
			GET /delayedtasks
			GET /delayedtasks?search=remind
			GET /delayedtasks?forecast=PT2H
			GET /delayedtasks?forecast=soon
			GET /delayedtasks?forecast=PT0S
			GET /delayedtasks/close
			GET /delayedtasks/close/5
			GET /delayedtasks/heartbeat
			GET /delayedtasks/remind
			GET /delayedtasks/remind/7
			GET /delayedtasks/digest
			GET /delayedtasks/fail
			GET /delayedtasks/fail?limit=1
			GET /delayedtasks/fail?limit=0
			GET /delayedtasks/fail?limit=101
			GET /delayedtasks/fail?limit=many
			GET /delayedtasks/fail?cursor=nonsense
			GET /delayedtasks/close?cursor=5
			GET /delayedtasks/fail?dead=true
			GET /delayedtasks/fail?dead=true&cursor=x
			GET /delayedtasks/close?dead=true
			GET /delayedtasks/absent
			GET /delayedtasks/close/absent
			POST /delayedtasks/close/5 {"action": "reschedule", "delay": "PT2H"}
			POST /delayedtasks/close/5 {"action": "reschedule"}
			POST /delayedtasks/close/5 {"action": "reschedule", "delay": "soon"}
			POST /delayedtasks/close/5 {"action": "reschedule", "delay": "-PT1S"}
			POST /delayedtasks/close/5 {"action": "run", "delay": "PT5M"}
			POST /delayedtasks/close/5 {"delay": "PT5M"}
			POST /delayedtasks/close/5 {"action": "explode"}
			POST /delayedtasks/close/5 {"action": "requeue"}
			POST /delayedtasks/close/absent {"action": "run"}
			POST /delayedtasks/fail/absent {"action": "reschedule", "delay": "PT1M"}
			POST /delayedtasks/fail/5 {"action": "requeue-dead"}
			POST /delayedtasks/remind/7 {"action": "reschedule", "delay": "2h"}
			DELETE /delayedtasks/remind/7
			DELETE /delayedtasks/close
			DELETE /delayedtasks/close/absent
			POST /delayedtasks/close {"action": "pause"}
			POST /delayedtasks/close {"action": "pause", "group": "no stock"}
			POST /delayedtasks/close {"action": "resume"}
			POST /delayedtasks/close {"action": "delete-dead"}
			POST /delayedtasks/absent {"action": "pause"}
			POST /delayedtasks/absent {"action": "requeue-dead"}
			POST /delayedtasks/fail {"action": "requeue"}
			POST /delayedtasks/fail {"action": "pause"}
			POST /delayedtasks/fail {"action": "requeue-dead", "error": "no stock"}
			POST /delayedtasks/fail {"action": "requeue-dead", "group": "no stock"}
			POST /delayedtasks/fail {"action": "requeue-dead", "group": ""}
			POST /delayedtasks/fail {"action": "delete-dead", "error": "no stock", "group": "no stock"}
			POST /delayedtasks/fail {"action": "delete-dead"}
			POST /delayedtasks/fail {"action": "resume"}
			POST /delayedtasks {"action": "pause"}
			POST /delayedtasks {"action": "resume"}
			POST /delayedtasks {"action": "explode"}
			GET /health/timingWheel
			""";

	@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT, classes = Application.class,
			properties = { "management.endpoints.web.exposure.include=timingwheel,delayedtasks,health",
					"management.endpoint.delayedtasks.access=unrestricted",
					"management.endpoint.delayedtasks.show-values=always",
					"management.endpoint.health.show-details=always", "management.health.redis.enabled=false",
					"spring.datasource.generate-unique-name=true", "timingwheel.store.type=jdbc",
					"timingwheel.store.node-id=node-a", "timingwheel.store.poll-interval=10ms",
					"timingwheel.tick=1ms" })
	abstract static class Answers {

		@Value("http://localhost:${local.server.port}/actuator")
		private String actuator;

		private final RestTestClient client = RestTestClient.bindToServer().build();

		@Test
		void theAnswersOfTheEndpointsAndTheMetersAreTheApprovedOnes(@Autowired Application application,
				@Autowired DelayedTaskOperations tasks, @Autowired MeterRegistry registry) {
			application.close(5);
			tasks.schedule(Duration.ofHours(1), () -> {
			});
			application.remind(7);
			application.fail(1);
			application.fail(2);
			await().until(() -> JsonPath.<Integer>read(answer("GET /delayedtasks", new ArrayList<>()),
					"$.tasks.fail.dead") == 2);
			List<String> lines = new ArrayList<>();
			REQUESTS.lines().forEach((request) -> answer(request, lines));
			Approved.verify(EndpointApprovalTests.class, "endpoints", lines);
			TreeSet<String> meters = new TreeSet<>();
			for (Meter meter : registry.getMeters()) {
				Meter.Id id = meter.getId();
				if (id.getName().startsWith("timingwheel.")) {
					meters.add("%s: %s of %s, tags %s; %s".formatted(id.getName(), id.getType().name().toLowerCase(),
							id.getBaseUnit(), tags(id), id.getDescription()));
				}
			}
			Approved.verify(EndpointApprovalTests.class, "meters", List.copyOf(meters));
		}

		/**
		 * The tags with their values, but for the values that the application makes.
		 */
		private static String tags(Meter.Id id) {
			Set<String> varying = Set.of("name", "class", "method", "code.function", "code.namespace");
			return id.getTags()
				.stream()
				.map((tag) -> varying.contains(tag.getKey()) ? tag.getKey() : tag.getKey() + "=" + tag.getValue())
				.collect(Collectors.joining(", ", "[", "]"));
		}

		private String answer(String line, List<String> lines) {
			String[] parts = line.split(" ", 3);
			RestTestClient.RequestBodySpec request = this.client.method(HttpMethod.valueOf(parts[0]))
				.uri(URI.create(this.actuator + parts[1]))
				.contentType(MediaType.APPLICATION_JSON);
			var answer = ((parts.length > 2) ? request.body(parts[2]) : request).exchange().returnResult(String.class);
			lines.add(line + " -> " + answer.getStatus().value());
			String body = answer.getResponseBody();
			if (body != null && !body.isEmpty()) {
				JsonLines.of(JsonPath.read(body, "$"), (field, value) -> mask(parts[1], field, value))
					.forEach((value) -> lines.add("\t" + value));
			}
			return body;
		}

		/**
		 * The figures of the engine and of the node vary with the time that passes.
		 */
		private static @Nullable String mask(String path, String field, Object value) {
			boolean settings = List.of("wheelSize", "shards").contains(field) || field.endsWith(".level");
			boolean figures = path.equals("/timingwheel") || path.startsWith("/health") || field.endsWith(".inFlight");
			return (figures && value instanceof Number && !settings) ? "<number>" : null;
		}

	}

	@Nested
	class WithWebMvcTests extends Answers {

	}

	@Nested
	@TestPropertySource(properties = "spring.main.web-application-type=reactive")
	class WithWebFluxTests extends Answers {

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

		@Timeout("1s")
		void ask() {
		}

		@Recurring(cron = "0 0 0 1 1 *", zone = "UTC", name = "digest", durable = true)
		void digest() {
		}

	}

}

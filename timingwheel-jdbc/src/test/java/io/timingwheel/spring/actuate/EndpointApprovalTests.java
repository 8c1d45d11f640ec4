package io.timingwheel.spring.actuate;

import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import com.jayway.jsonpath.JsonPath;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.Recurring;
import io.timingwheel.spring.annotation.TaskPolicy;
import io.timingwheel.spring.annotation.Timeout;
import io.timingwheel.spring.autoconfigure.TimingWheelBuilderCustomizer;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.Schedule;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.support.Approved;
import io.timingwheel.support.JsonLines;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.HttpMethod;
import org.springframework.http.MediaType;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.context.TestPropertySource;
import org.springframework.test.web.servlet.client.RestTestClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The answers of the endpoints and of the console, their refusals, the details of health,
 * and the meters, which are the same with Spring MVC, on a port of their own, and with
 * WebFlux; and what the requests do, with tasks in memory and with stored ones.
 */
class EndpointApprovalTests {

	private static final String REQUESTS = """
			GET /timingwheel
			GET /delayedtasks
			GET /delayedtasks?search=remind
			GET /delayedtasks?forecast=PT2H
			GET /delayedtasks?forecast=PT2H&search=remind
			GET /delayedtasks?forecast=soon
			GET /delayedtasks?forecast=PT0S
			GET /delayedtasks/close
			GET /delayedtasks/close/5
			GET /delayedtasks/heartbeat
			GET /delayedtasks/remind
			GET /delayedtasks/gone/1
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
			GET /timingwheelconsole/live?view=now&range=P1D
			GET /timingwheelconsole/live?view=names&filter=MIND
			GET /timingwheelconsole/live?view=name&name=close&find=5
			GET /timingwheelconsole/live?view=name&name=remind
			GET /timingwheelconsole/live?view=name&name=fail
			GET /timingwheelconsole/live?view=dead&name=fail
			GET /timingwheelconsole/live?view=schedules
			GET /timingwheelconsole/live?view=schedules&filter=HEART
			GET /timingwheelconsole/live?view=schedules&filter=minder
			GET /timingwheelconsole/live?view=node
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
			GET /delayedtasks/close/5
			DELETE /delayedtasks/close/absent
			POST /delayedtasks/close {"action": "pause"}
			POST /delayedtasks/close {"action": "pause", "group": "no stock"}
			POST /delayedtasks/close {"action": "resume"}
			POST /delayedtasks/close {"action": "delete-dead"}
			POST /delayedtasks/absent {"action": "pause"}
			POST /delayedtasks/absent {"action": "requeue-dead"}
			POST /delayedtasks/fail {"action": "requeue"}
			POST /delayedtasks/fail {"action": "pause"}
			POST /delayedtasks/fail/{dead} {"action": "run"}
			POST /delayedtasks/fail/{dead} {"action": "requeue"}
			POST /delayedtasks/fail/{dead} {"action": "requeue"}
			GET /delayedtasks/fail/{dead}
			POST /delayedtasks/fail/{earlier} {"action": "requeue"}
			GET /delayedtasks/fail/{earlier}
			POST /delayedtasks/fail {"action": "requeue-dead", "group": "no stock"}
			POST /delayedtasks/fail {"action": "requeue-dead", "group": ""}
			POST /delayedtasks/fail {"action": "delete-dead", "error": "no stock", "group": "no stock"}
			POST /delayedtasks/fail {"action": "requeue-dead", "error": "no stock"}
			GET /delayedtasks/fail
			DELETE /delayedtasks/fail/{earlier}
			DELETE /delayedtasks/fail/{earlier}
			POST /delayedtasks/fail {"action": "delete-dead"}
			POST /timingwheelconsole {"action": "requeue-dead", "name": "fail", "error": "no stock"}
			POST /timingwheelconsole {"action": "resume", "name": "fail"}
			POST /timingwheelconsole {"action": "reschedule", "name": "close", "task": "5", "delay": "2h"}
			POST /timingwheelconsole {"action": "explode", "name": "close", "task": "5"}
			POST /timingwheelconsole {"action": "cancel", "name": "close", "task": "5"}
			POST /timingwheelconsole {"action": "cancel", "name": "close", "task": "5"}
			POST /timingwheelconsole {"action": "run", "name": "heartbeat", "task": "recurring"}
			POST /timingwheelconsole {"action": "pause"}
			POST /delayedtasks {"action": "resume"}
			GET /health/timingWheel
			POST /delayedtasks {"action": "pause"}
			POST /delayedtasks {"action": "explode"}
			GET /health/timingWheel
			POST /delayedtasks {"action": "resume"}
			""";

	private static final Duration HOUR = Duration.ofHours(1);

	/** The name of a durable method. */
	private static final String DURABLE = "remind";

	/** In place of the ids of the dead tasks, the latest first. */
	private static final String DEAD = "{dead}";

	private static final String EARLIER = "{earlier}";

	/** What each answer of the console has. */
	private static final String IN_ALL_VIEWS = "(acts|application|time|(lateness|node|totals|wheel)\\..*): .*";

	@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT, classes = Application.class, properties = {
			"management.endpoints.web.exposure.include=timingwheel,delayedtasks,timingwheelconsole,health",
			"management.endpoints.access.default=unrestricted", "spring.application.name=shop",
			"management.endpoint.delayedtasks.show-values=always", "management.endpoint.health.show-details=always",
			"management.health.redis.enabled=false", "spring.datasource.generate-unique-name=true",
			"timingwheel.store.type=jdbc", "timingwheel.store.node-id=node-a", "timingwheel.store.poll-interval=10ms",
			"timingwheel.tick=1ms" })
	@DirtiesContext
	@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
	abstract static class Answers {

		@Autowired
		DelayedTaskOperations tasks;

		@Value("http://localhost:${local.management.port:${local.server.port}}/actuator")
		private String actuator;

		private final RestTestClient client = RestTestClient.bindToServer().build();

		private final CompletableFuture<String> running = new CompletableFuture<>();

		private List<String> dead = List.of(DEAD, EARLIER);

		/** The application waits for its tasks when it closes. */
		@AfterEach
		void endRunning() {
			this.running.complete("done");
		}

		/** The first test, since the others change the counts. */
		@Test
		@Order(1)
		void theAnswersOfTheEndpointsAndTheMetersAreTheApprovedOnes(@Autowired Application application,
				@Autowired MeterRegistry registry) {
			application.close(5);
			this.tasks.schedule(HOUR, () -> {
			});
			this.tasks.task(() -> {
			}).id(TaskId.of("reminder", "a")).on(Schedule.every(HOUR));
			endTasks();
			application.remind(7);
			this.tasks.enqueue(TaskId.of("gone", 1), HOUR, 1);
			for (int id : new int[] { 1, 2, 2 }) {
				int dead = dead().size();
				application.fail(id);
				await().until(() -> dead().size() == dead + 1);
			}
			this.dead = dead();
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

		/** The tags with their values, but for the values that the application makes. */
		private static String tags(Meter.Id id) {
			Set<String> varying = Set.of("name", "class", "method", "code.function", "code.namespace");
			return id.getTags()
				.stream()
				.map((tag) -> varying.contains(tag.getKey()) ? tag.getKey() : tag.getKey() + "=" + tag.getValue())
				.collect(Collectors.joining(", ", "[", "]"));
		}

		/**
		 * One task in memory completes, two fail, three are cancelled, and one goes on.
		 */
		private void endTasks() {
			CompletableFuture<String> failed = CompletableFuture.failedFuture(new IllegalStateException());
			for (var result : List.of(CompletableFuture.completedFuture("done"), failed, failed, this.running)) {
				this.tasks.task(result::join).name("ended").after(Duration.ZERO);
			}
			for (int i = 0; i < 3; i++) {
				this.tasks.task(() -> "never").name("ended").after(HOUR).cancel(false);
			}
			await().until(() -> {
				Map<String, Object> counts = JsonPath.read(answer("GET /delayedtasks/ended", new ArrayList<>()),
						"$.counts");
				return counts.entrySet()
					.containsAll(Map.of("running", 1, "completed", 1, "failed", 2, "cancelled", 3).entrySet());
			});
		}

		private List<String> dead() {
			return JsonPath.read(answer("GET /delayedtasks/fail", new ArrayList<>()), "$.dead[*].id");
		}

		private String answer(String line, List<String> lines) {
			String[] parts = line.split(" ", 3);
			String path = parts[1].replace(DEAD, this.dead.get(0)).replace(EARLIER, this.dead.get(1));
			RestTestClient.RequestBodySpec request = this.client.method(HttpMethod.valueOf(parts[0]))
				.uri(URI.create(this.actuator + path))
				.contentType(MediaType.APPLICATION_JSON);
			var answer = ((parts.length > 2) ? request.body(parts[2]) : request).exchange().returnResult(String.class);
			lines.add(line + " -> " + answer.getStatus().value());
			String body = answer.getResponseBody();
			if (body != null && !body.isEmpty()) {
				String known = body.replace(this.dead.get(0), DEAD).replace(this.dead.get(1), EARLIER);
				JsonLines.of(JsonPath.read(known, "$"), (field, value) -> mask(parts[1], field, value))
					.stream()
					.filter((value) -> parts[1].contains("view=now") || !value.matches(IN_ALL_VIEWS))
					.forEach((value) -> lines.add("\t" + value));
			}
			return body;
		}

		/**
		 * The figures of the engine and of the node vary with the time that passes, and
		 * those of names may be some seconds old.
		 */
		private static @Nullable String mask(String path, String field, Object value) {
			boolean settings = List.of("wheelSize", "shards").contains(field) || field.endsWith(".level");
			boolean figures = path.equals("/timingwheel") || path.startsWith("/health") || field.endsWith(".inFlight")
					|| (path.contains("/live") && field.matches("time|(wheel|node|lateness|totals)\\..+"));
			return field.startsWith("wheel.slots") ? "<slots>"
					: (figures && value instanceof Number && !settings) ? "<number>" : null;
		}

		@ParameterizedTest
		@CsvSource({ "plain, a/b/c, /plain/a/b/c", "billing.close-order, 7, /billing.close-order/7",
				"with a blank, a b/c, /with%20a%20blank/a%20b/c", "plain, a?b#c;d, /plain/a%3Fb%23c%3Bd",
				"plain, 50%+2026-01-01T00:00:00Z.json, /plain/50%25+2026-01-01T00:00:00Z.json",
				"größe.日本, ü, /gr%C3%B6%C3%9Fe.%E6%97%A5%E6%9C%AC/%C3%BC" })
		void aTaskIsShownAndCancelledByItsKeyOrItsId(String name, String key, String path) {
			DelayedTask<?> task = schedule(name, key);
			assertThat(this.<Map<String, Object>>read(path, "$")).containsEntry("id", task.id())
				.containsEntry("name", name)
				.containsEntry("key", key);
			send("DELETE", path, 204);
			assertThat(task.isCancelled()).isTrue();
			send("DELETE", path, 404);
			DelayedTask<?> unkeyed = this.tasks.task(() -> "never").name(name).after(HOUR);
			String byId = path.substring(0, path.indexOf('/', 1) + 1) + unkeyed.id();
			assertThat(this.<String>read(byId, "$.name")).isEqualTo(name);
			send("DELETE", byId, 204);
			assertThat(unkeyed.isCancelled()).isTrue();
		}

		@Test
		void aPathWithAnEncodedSlashInItsNameHasNoTask() {
			schedule(DURABLE, "a/b");
			for (String path : List.of("/%20/5", "/rem/ind/a/b")) {
				send("GET", path, 404);
				send("DELETE", path, 404);
				act(path, "requeue", 404);
			}
			send("DELETE", "/remind/a/b", 204);
		}

		@ParameterizedTest
		@ValueSource(strings = { "paged", DURABLE })
		void pendingTasksInMemoryAndStoredOnesAreListedPageByPage(String name) {
			Set<String> keys = IntStream.range(0, 7).mapToObj((i) -> "paged " + i).collect(Collectors.toSet());
			keys.forEach((key) -> schedule(name, key));
			List<String> listed = new ArrayList<>();
			String cursor = "";
			while (cursor != null) {
				String body = send("GET", "/" + name + "?limit=3" + cursor, 200);
				List<String> page = JsonPath.read(body, "$.next[*].key");
				assertThat(page).hasSizeBetween(1, 3);
				listed.addAll(page);
				List<String> next = JsonPath.read(body, "$[?(@.cursor)].cursor");
				cursor = next.isEmpty() ? null : "&cursor=" + next.get(0);
			}
			assertThat(listed).hasSize(7).containsExactlyInAnyOrderElementsOf(keys);
			keys.forEach((key) -> this.tasks.cancel(TaskId.of(name, key)));
		}

		@ParameterizedTest
		@ValueSource(strings = { "plain", DURABLE })
		void aTaskInMemoryOrAStoredOneIsMovedAndRunNow(String name) {
			String id = schedule(name, "a/b").id();
			String path = "/" + name + "/a/b";
			send("POST", path + " {\"action\":\"reschedule\",\"delay\":\"PT2H\"}", 204);
			assertThat(Instant.parse(read(path, "$.dueAt"))).isAfter(Instant.now().plus(Duration.ofMinutes(110)));
			act("/" + name + "/" + id, "run", 204);
			await().untilAsserted(() -> act(path, "run", 404));
		}

		@ParameterizedTest
		@ValueSource(strings = { "plain", DURABLE })
		void aNameInMemoryOrADurableOneIsPausedAndResumed(String name) {
			act("/" + name, "pause", 204);
			schedule(name, "paused");
			act("/" + name + "/paused", "run", 204);
			await().until(() -> this.<Integer>read("/" + name, "$.counts.waiting") == 1);
			assertThat(this.<Boolean>read("/" + name, "$.counts.paused")).isTrue();
			act("/" + name, "resume", 204);
			await().until(() -> this.<Integer>read("/" + name, "$.counts.pending") == 0);
			assertThat(this.<Boolean>read("/" + name, "$.counts.paused")).isFalse();
		}

		DelayedTask<?> schedule(String name, String key) {
			TaskId id = TaskId.of(name, key);
			return name.equals(DURABLE) ? this.tasks.enqueue(id, HOUR, 1) : this.tasks.schedule(id, HOUR, () -> {
			});
		}

		<T> T read(String path, String jsonPath) {
			return JsonPath.read(send("GET", path, 200), jsonPath);
		}

		private void act(String path, String action, int status) {
			send("POST", path + " {\"action\":\"" + action + "\"}", status);
		}

		String send(String method, String pathAndBody, int status) {
			List<String> lines = new ArrayList<>();
			String body = answer(method + " /delayedtasks" + pathAndBody, lines);
			assertThat(lines).first().asString().endsWith(" -> " + status);
			return body;
		}

	}

	@Nested
	@TestPropertySource(properties = "management.server.port=0")
	class WithWebMvcTests extends Answers {

		@Test
		void theParameterNeedsNoValue() {
			assertThat(this.<Map<String, Object>>read("/remind?dead", "$")).containsKey("groups");
		}

	}

	@Nested
	@TestPropertySource(properties = "spring.main.web-application-type=reactive")
	class WithWebFluxTests extends Answers {

		@Test
		void anEncodedSlashIsPartOfTheKeyOrOfAnUnknownName() {
			DelayedTask<?> task = schedule("reports", "daily/5");
			assertThat(this.<String>read("/reports/daily%2F5", "$.id")).isEqualTo(task.id());
			send("GET", "/reports%2Fdaily/5", 404);
			send("DELETE", "/reports%2Fdaily/5", 404);
			send("DELETE", "/reports/daily%2F5", 204);
			assertThat(task.isCancelled()).isTrue();
		}

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

		@Delayed(delay = "0s", key = "#id", name = "fail", durable = true, policy = @TaskPolicy(maxAttempts = 1))
		void fail(long id) {
			throw new IllegalStateException("no stock");
		}

		@Delayed(delay = "1h", name = "idle")
		void idle() {
		}

		@Timeout("1s")
		void ask() {
		}

		@Recurring(cron = "0 0 0 1 1 *", zone = "UTC", name = "digest", durable = true)
		void digest() {
		}

	}

}

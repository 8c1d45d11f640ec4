package io.timingwheel.spring.actuate;

import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import com.jayway.jsonpath.JsonPath;
import io.timingwheel.spring.actuate.internal.StoredTasks;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.durable.call.MemoryStore;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.memory.DelayedTaskRegistry;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.test.web.servlet.client.RestTestClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Names, and keys with slashes, are addressed by paths, with Spring MVC and with WebFlux.
 */
abstract class EndpointPathTests {

	private final RestTestClient client = RestTestClient.bindToServer().build();

	@Autowired
	DelayedTaskOperations tasks;

	@Autowired
	private StoredTasks storedTasks;

	@Autowired
	private Environment environment;

	@AfterEach
	void cancelPending(@Autowired DelayedTaskRegistry registry) {
		registry.atShutdown().cancelPending();
	}

	@Test
	void aDeclaredNameIsShown() {
		assertThat(JsonPath.<String>read(get("/billing.close-order"), "$.name")).isEqualTo("billing.close-order");
		schedule("billing.close-order", "7");
		assertThat(JsonPath.<List<String>>read(get("/billing.close-order"), "$.next[*].key")).containsExactly("7");
	}

	@ParameterizedTest
	@CsvSource({ "plain, a/b/c, /plain/a/b/c", "plain, key, /plain/key",
			"with a blank, a b/c, /with%20a%20blank/a%20b/c", "plain, a?b#c;d, /plain/a%3Fb%23c%3Bd",
			"plain, 50%+2026-01-01T00:00:00Z.json, /plain/50%25+2026-01-01T00:00:00Z.json",
			"größe.日本, ü, /gr%C3%B6%C3%9Fe.%E6%97%A5%E6%9C%AC/%C3%BC" })
	void aTaskIsShownAndCancelled(String name, String key, String path) {
		DelayedTask<?> task = schedule(name, key);
		String body = get(path);
		assertThat(JsonPath.<String>read(body, "$.id")).isEqualTo(task.id());
		assertThat(JsonPath.<String>read(body, "$.name")).isEqualTo(name);
		assertThat(JsonPath.<String>read(body, "$.key")).isEqualTo(key);
		delete(path, 204);
		assertThat(task.isCancelled()).isTrue();
		delete(path, 404);
	}

	@Test
	void aTaskWithoutAKeyIsAddressedByItsId() {
		DelayedTask<?> task = this.tasks.task(() -> "never").name("unkeyed").after(Duration.ofHours(1));
		assertThat(JsonPath.<String>read(get("/unkeyed/" + task.id()), "$.name")).isEqualTo("unkeyed");
		delete("/unkeyed/" + task.id(), 204);
		assertThat(task.isCancelled()).isTrue();
	}

	@Test
	void aPathWithAnEncodedSlashInItsNameHasNoTask() {
		this.tasks.enqueue(TaskId.of("durable-fail", "a/b"), Duration.ofHours(1), "a/b");
		for (String path : List.of("/%20/5", "/durable/fail/a/b")) {
			get(path, 404);
			delete(path, 404);
			requeue(path, 404);
		}
		delete("/durable-fail/a/b", 204);
	}

	@Test
	void aDeadTaskIsRequeuedAndDeleted() {
		this.tasks.enqueue(TaskId.of("durable-fail", "a/b"), Duration.ZERO, "a/b");
		await().until(() -> !JsonPath.<List<String>>read(get("/durable-fail"), "$.dead[*].id").isEmpty());
		String id = JsonPath.<List<String>>read(get("/durable-fail"), "$.dead[*].id").get(0);
		assertThat(JsonPath.<String>read(get("/durable-fail/" + id), "$.state")).isEqualTo("DEAD");
		requeue("/durable-fail/" + id, 204);
		await().until(() -> JsonPath.<String>read(get("/durable-fail/" + id), "$.state").equals("DEAD"));
		delete("/durable-fail/" + id, 204);
		requeue("/durable-fail/" + id, 404);
		requeue("/durable-fail", 400);
	}

	@Test
	void theDeadOfANameAreGroupedRequeuedAndDeleted() {
		post("/durable-fail", "{\"action\":\"delete-dead\"}", 200);
		for (String id : List.of("a", "b", "c")) {
			this.tasks.enqueue(TaskId.of("durable-fail", id), Duration.ZERO, id);
		}
		awaitGroups(1, 1, 1);
		String body = get("/durable-fail?dead=true");
		assertThat(JsonPath.<String>read(body, "$.name")).isEqualTo("durable-fail");
		assertThat(JsonPath.<List<String>>read(body, "$.groups[*].error")).containsExactlyInAnyOrder(
				"java.lang.IllegalStateException: Failed a", "java.lang.IllegalStateException: Failed b",
				"java.lang.IllegalStateException: Failed c");
		assertThat(JsonPath.<Integer>read(body, "$.examined")).isEqualTo(3);
		assertThat(JsonPath.<Boolean>read(body, "$.complete")).isTrue();
		assertThat(JsonPath.<Map<String, Object>>read(body, "$.groups[0]")).containsOnlyKeys("error", "group", "count",
				"first", "last", "id");
		assertThat(post("/durable-fail", "{\"action\":\"delete-dead\",\"error\":\"Failed b\"}", 200))
			.isEqualTo("{\"affected\":1,\"skipped\":0,\"remaining\":false}");
		this.tasks.enqueue(TaskId.of("durable-fail", "c"), Duration.ofHours(1), "c");
		assertThat(post("/durable-fail", "{\"action\":\"requeue-dead\"}", 200))
			.isEqualTo("{\"affected\":1,\"skipped\":1,\"remaining\":false}");
		awaitGroups(1, 1);
		assertThat(JsonPath.<List<String>>read(get("/durable-fail"), "$.next[*].key")).containsExactly("c");
		delete("/durable-fail/c", 204);
		assertThat(post("/durable-fail", "{\"action\":\"delete-dead\"}", 200))
			.isEqualTo("{\"affected\":2,\"skipped\":0,\"remaining\":false}");
		awaitGroups();
	}

	@Test
	void theDeadHaveACursor() {
		assertThat(JsonPath.<Boolean>read(get("/durable-fail?dead=true&cursor=9000000000000000-"), "$.complete"))
			.isFalse();
		assertThat(get("/durable-fail?dead=true&cursor=x", 400)).contains("leave it out to begin anew");
	}

	@Test
	void theNodesOfTheStoreAreListed() {
		await().untilAsserted(
				() -> assertThat(JsonPath.<List<Map<String, Object>>>read(get(""), "$.nodes[?(@.thisNode == true)]"))
					.singleElement()
					.satisfies(
							(node) -> assertThat(node).containsOnlyKeys("id", "thisNode", "claiming", "inFlight", "age")
								.containsEntry("claiming", true)
								.containsEntry("age", "PT2S")));
	}

	private void awaitGroups(Integer... counts) {
		await().untilAsserted(
				() -> assertThat(JsonPath.<List<Integer>>read(get("/durable-fail?dead=true"), "$.groups[*].count"))
					.containsExactly(counts));
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			/fail                | requeue-all  | 400 | The action on a name must be
			/durable-fail        | requeue      | 400 | The action on a name must be
			/billing.close-order | requeue-dead | 400 | are not durable
			/absent              | requeue-dead | 404 | No task has the name
			/durable-fail/5      | requeue-dead | 400 | The action on a task must be
			/durable-fail/5      | requeue      | 404 | No dead task of "durable-fail"
			/durable-fail/5      | run          | 404 | No task of "durable-fail"
			/billing.close-order/5 | run        | 404 | No task of "billing.close-order"
			/fail/5              | reschedule   | 404 | No task of "fail"
			''                   | stop         | 400 | must be "pause" or "resume"
			""")
	void aRequestThatMakesNoSenseIsAnsweredWithWhatIsWrong(String path, String action, int status, String message) {
		String delay = action.equals("reschedule") ? ",\"delay\":\"PT1M\"" : "";
		String request = "{\"action\":\"%s\"%s}".formatted(action, delay);
		assertThat(JsonPath.<String>read(post(path, request, status), "$.error")).contains(message);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			{"action":"reschedule"}                  | needs a delay
			{"action":"reschedule","delay":"soon"}   | not "soon"
			{"action":"reschedule","delay":"-PT1S"}  | not "-PT1S"
			{"action":"run","delay":"PT5M"}          | Only "reschedule" takes a delay
			{"delay":"PT5M"}                         | needs a body with an action
			""")
	void aChangeThatMakesNoSenseIsAnsweredWithWhatIsWrong(String request, String message) {
		schedule("plain", "5");
		assertThat(JsonPath.<String>read(post("/plain/5", request, 400), "$.error")).contains(message);
	}

	@ParameterizedTest
	@CsvSource({ "/fail?limit=0, 400, not 0", "/fail?limit=101, 400, not 101", "/fail?limit=many, 400, not \"many\"",
			"/fail?cursor=5, 400, The cursor \"5\"", "/durable-fail?cursor=x, 400, The cursor \"x\"",
			"?forecast=soon, 400, not \"soon\"", "?forecast=PT0S, 400, from 60 ms",
			"/absent, 404, No task has the name \"absent\"", "/fail/5, 404, No task of \"fail\"" })
	void aReadThatMakesNoSenseIsAnsweredWithWhatIsWrong(String path, int status, String message) {
		assertThat(JsonPath.<String>read(get(path, status), "$.error")).contains(message);
	}

	@Test
	void anAbsentTaskIsNotCancelled() {
		assertThat(JsonPath.<String>read(delete("/fail/absent", 404), "$.error")).contains("\"absent\"");
	}

	@Test
	void pendingTasksInMemoryAreListedPageByPage() {
		assertListedPageByPage("paged", (key) -> schedule("paged", key));
	}

	@Test
	void storedTasksAreListedPageByPage() {
		assertListedPageByPage("durable-fail",
				(key) -> this.tasks.enqueue(TaskId.of("durable-fail", key), Duration.ofHours(1), key));
	}

	private void assertListedPageByPage(String name, Consumer<String> schedule) {
		Set<String> keys = IntStream.range(0, 7).mapToObj((i) -> "paged " + i).collect(Collectors.toSet());
		keys.forEach(schedule);
		List<String> listed = new ArrayList<>();
		String cursor = "";
		while (cursor != null) {
			String body = get("/" + name + "?limit=3" + cursor);
			List<String> page = JsonPath.read(body, "$.next[*].key");
			assertThat(page).hasSizeBetween(1, 3);
			listed.addAll(page);
			String next = JsonPath.<List<String>>read(body, "$[?(@.cursor)].cursor").stream().findFirst().orElse(null);
			cursor = (next != null) ? "&cursor=" + next : null;
		}
		assertThat(listed).hasSize(7).containsExactlyInAnyOrderElementsOf(keys);
		keys.forEach((key) -> this.tasks.cancel(TaskId.of(name, key)));
	}

	@Test
	void aForecastHasTheStoredTasksToo() {
		this.tasks.enqueue(TaskId.of("durable-fail", "ahead"), Duration.ofMinutes(30), "ahead");
		schedule("plain", "ahead");
		await().untilAsserted(() -> {
			String body = get("?forecast=PT2H");
			assertThat(JsonPath.<List<Integer>>read(body, "$.tasks['durable-fail'].counts[14,15]")).contains(1);
			assertThat(JsonPath.<List<Integer>>read(body, "$.tasks['plain'].counts[29,30]")).contains(1);
		});
		delete("/durable-fail/ahead", 204);
	}

	@Test
	void aTaskInMemoryIsMovedAndRunNow() {
		DelayedTask<?> task = schedule("plain", "a/b");
		post("/plain/a/b", "{\"action\":\"reschedule\",\"delay\":\"PT2H\"}", 204);
		assertThat(task.dueAt()).isAfter(Instant.now().plus(Duration.ofMinutes(110)));
		post("/plain/" + task.id(), "{\"action\":\"run\"}", 204);
		assertThat(task.completion()).succeedsWithin(Duration.ofMinutes(1));
		post("/plain/a/b", "{\"action\":\"run\"}", 404);
	}

	@Test
	void aStoredTaskIsMovedAndRunNow() {
		DelayedTask<?> task = this.tasks.enqueue(TaskId.of("durable-fail", "moved"), Duration.ofHours(1), "moved");
		post("/durable-fail/moved", "{\"action\":\"reschedule\",\"delay\":\"2h\"}", 204);
		assertThat(Instant.parse(JsonPath.read(get("/durable-fail/moved"), "$.dueAt")))
			.isAfter(Instant.now().plus(Duration.ofMinutes(110)));
		post("/durable-fail/" + task.id(), "{\"action\":\"run\"}", 204);
		await().until(() -> JsonPath.<String>read(get("/durable-fail/" + task.id()), "$.state").equals("DEAD"));
		assertThat(JsonPath.<String>read(post("/durable-fail/" + task.id(), "{\"action\":\"run\"}", 409), "$.error"))
			.contains("running or dead");
		this.tasks.enqueue(TaskId.of("durable-fail", "moved"), Duration.ofHours(1), "moved");
		assertThat(
				JsonPath.<String>read(post("/durable-fail/" + task.id(), "{\"action\":\"requeue\"}", 409), "$.error"))
			.contains("has a pending task");
		delete("/durable-fail/moved", 204);
		delete("/durable-fail/" + task.id(), 204);
	}

	@Test
	void aNameInMemoryIsPausedAndResumed() {
		DelayedTask<?> task = schedule("plain", "paused");
		post("/plain", "{\"action\":\"pause\"}", 204);
		post("/plain/paused", "{\"action\":\"run\"}", 204);
		await().until(() -> JsonPath.<Integer>read(get("/plain"), "$.counts.waiting") == 1);
		assertThat(JsonPath.<Boolean>read(get("/plain"), "$.counts.paused")).isTrue();
		assertThat(task.isDone()).isFalse();
		post("/plain", "{\"action\":\"resume\"}", 204);
		assertThat(task.completion()).succeedsWithin(Duration.ofMinutes(1));
		assertThat(JsonPath.<Boolean>read(get("/plain"), "$.counts.paused")).isFalse();
		assertThat(JsonPath.<String>read(post("/absent", "{\"action\":\"pause\"}", 404), "$.error"))
			.contains("No task has the name");
	}

	@Test
	void aDurableNameIsPausedAndResumed() {
		post("/durable-fail", "{\"action\":\"pause\"}", 204);
		this.tasks.enqueue(TaskId.of("durable-fail", "paused"), Duration.ZERO, "paused");
		await().until(() -> JsonPath.<Integer>read(get("/durable-fail"), "$.counts.waiting") == 1);
		assertThat(JsonPath.<Boolean>read(get("/durable-fail"), "$.counts.paused")).isTrue();
		post("/durable-fail", "{\"action\":\"resume\"}", 204);
		await().until(() -> JsonPath.<Integer>read(get("/durable-fail"), "$.counts.dead") == 1);
		post("/durable-fail", "{\"action\":\"delete-dead\"}", 200);
	}

	@Test
	void theClaimsOfThisNodeArePausedAndResumed() {
		post("", "{\"action\":\"pause\"}", 204);
		assertThat(this.storedTasks.node().isClaiming()).isFalse();
		post("", "{\"action\":\"resume\"}", 204);
		assertThat(this.storedTasks.node().isClaiming()).isTrue();
	}

	DelayedTask<?> schedule(String name, String key) {
		return this.tasks.schedule(TaskId.of(name, key), Duration.ofHours(1), () -> {
		});
	}

	String get(String path) {
		return get(path, 200);
	}

	String get(String path, int status) {
		return exchange(this.client.get().uri(uri(path)), status);
	}

	String delete(String path, int status) {
		return exchange(this.client.delete().uri(uri(path)), status);
	}

	private void requeue(String path, int status) {
		post(path, "{\"action\":\"requeue\"}", status);
	}

	private String post(String path, String request, int status) {
		return exchange(this.client.post().uri(uri(path)).header("Content-Type", "application/json").body(request),
				status);
	}

	private static String exchange(RestTestClient.RequestHeadersSpec<?> request, int status) {
		byte[] body = request.exchange()
			.expectStatus()
			.isEqualTo(status)
			.expectBody()
			.returnResult()
			.getResponseBodyContent();
		return (body != null) ? new String(body, StandardCharsets.UTF_8) : "";
	}

	private URI uri(String path) {
		return URI.create("http://localhost:%s/actuator/delayedtasks%s"
			.formatted(this.environment.getProperty("local.server.port"), path));
	}

	@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT, classes = Application.class,
			properties = { "management.endpoints.web.exposure.include=delayedtasks",
					"management.endpoint.delayedtasks.access=unrestricted",
					"management.endpoint.delayedtasks.show-values=always", "timingwheel.store.max-attempts=1",
					"timingwheel.store.poll-interval=20ms" })
	static class WithWebMvcTests extends EndpointPathTests {

		@Test
		void theParameterNeedsNoValue() {
			assertThat(JsonPath.<Map<String, Object>>read(get("/durable-fail?dead"), "$")).containsKey("groups");
			assertThat(JsonPath.<Map<String, Object>>read(get("/fail?dead"), "$")).containsKey("groups");
		}

	}

	@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT, classes = Application.class,
			properties = { "spring.main.web-application-type=reactive",
					"management.endpoints.web.exposure.include=delayedtasks",
					"management.endpoint.delayedtasks.access=unrestricted",
					"management.endpoint.delayedtasks.show-values=always", "timingwheel.store.max-attempts=1",
					"timingwheel.store.poll-interval=20ms" })
	static class WithWebFluxTests extends EndpointPathTests {

		@Test
		void anEncodedSlashIsPartOfTheKeyOrOfAnUnknownName() {
			DelayedTask<?> task = schedule("reports", "daily/5");
			assertThat(JsonPath.<String>read(get("/reports/daily%2F5"), "$.id")).isEqualTo(task.id());
			get("/reports%2Fdaily/5", 404);
			delete("/reports%2Fdaily/5", 404);
			delete("/reports/daily%2F5", 204);
			assertThat(task.isCancelled()).isTrue();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration(exclude = DataSourceAutoConfiguration.class)
	static class Application {

		@Bean
		MemoryStore store() {
			return new MemoryStore();
		}

		@Delayed(delay = "1h", name = "billing.close-order", key = "#id")
		public void close(long id) {
		}

		@Delayed(delay = "1h", name = "durable-fail", key = "#id", durable = true)
		public void fail(String id) {
			throw new IllegalStateException("Failed " + id);
		}

		@Delayed(delay = "1h", name = "fail", key = "#id", durable = true)
		public void failToo(String id) {
			throw new IllegalStateException("Failed " + id);
		}

	}

}

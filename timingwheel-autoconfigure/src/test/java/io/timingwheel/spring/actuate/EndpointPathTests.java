package io.timingwheel.spring.actuate;

import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;

import com.jayway.jsonpath.JsonPath;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.durable.support.MemoryStore;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.support.DelayedTaskRegistry;
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
 * Names and keys with slashes are addressed by paths, with Spring MVC and with WebFlux.
 */
abstract class EndpointPathTests {

	private final RestTestClient client = RestTestClient.bindToServer().build();

	@Autowired
	DelayedTaskOperations tasks;

	@Autowired
	private Environment environment;

	@AfterEach
	void cancelPending(@Autowired DelayedTaskRegistry registry) {
		registry.atShutdown().cancelPending();
	}

	@Test
	void aDeclaredNameIsShown() {
		assertThat(JsonPath.<String>read(get("/billing/close-order"), "$.name")).isEqualTo("billing/close-order");
		schedule("billing/close-order", "7");
		assertThat(JsonPath.<List<String>>read(get("/billing/close-order"), "$.next[*].key")).containsExactly("7");
	}

	@ParameterizedTest
	@CsvSource({ "plain, a/b/c, /plain/a/b/c", "with/slash, key, /with/slash/key", "with/slash, a/b, /with/slash/a/b",
			"with/two/slashes, a, /with/two/slashes/a", "with a/blank, a b, /with%20a/blank/a%20b",
			"größe/日本, ü, /gr%C3%B6%C3%9Fe/%E6%97%A5%E6%9C%AC/%C3%BC" })
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
	void aTaskOfANameWithSlashesIsAddressedByItsId() {
		DelayedTask<?> task = this.tasks.task(() -> "never").name("no/key").after(Duration.ofHours(1));
		assertThat(JsonPath.<String>read(get("/no/key/" + task.id()), "$.name")).isEqualTo("no/key");
		delete("/no/key/" + task.id(), 204);
		assertThat(task.isCancelled()).isTrue();
	}

	@Test
	void theLongestKnownNameIsTheName() {
		DelayedTask<?> hidden = schedule("jobs", "daily/5");
		assertThat(JsonPath.<String>read(get("/jobs/daily/5"), "$.name")).isEqualTo("jobs");
		DelayedTask<?> task = schedule("jobs/daily", "5");
		assertThat(JsonPath.<String>read(get("/jobs/daily/5"), "$.name")).isEqualTo("jobs/daily");
		delete("/jobs/daily/5", 204);
		assertThat(task.isCancelled()).isTrue();
		delete("/jobs/daily/5", 404);
		assertThat(hidden.isDone()).isFalse();
		assertThat(JsonPath.<String>read(get("/jobs/" + hidden.id()), "$.key")).isEqualTo("daily/5");
		delete("/jobs/" + hidden.id(), 204);
		assertThat(hidden.isCancelled()).isTrue();
	}

	@Test
	void aNameIsNotCancelledLikeATask() {
		DelayedTask<?> hidden = schedule("mails", "weekly");
		schedule("mails/weekly", "5");
		assertThat(JsonPath.<Map<String, Object>>read(get("/mails/weekly"), "$")).containsKey("next");
		delete("/mails/weekly", 404);
		assertThat(hidden.isDone()).isFalse();
	}

	@Test
	void aDeadTaskIsRequeuedAndDeleted() {
		this.tasks.enqueue(TaskId.of("durable/fail", "a/b"), Duration.ZERO, "a/b");
		await().until(() -> !JsonPath.<List<String>>read(get("/durable/fail"), "$.dead[*].id").isEmpty());
		String id = JsonPath.<List<String>>read(get("/durable/fail"), "$.dead[*].id").get(0);
		assertThat(JsonPath.<String>read(get("/durable/fail/" + id), "$.state")).isEqualTo("DEAD");
		requeue("/durable/fail/" + id, 204);
		await().until(() -> JsonPath.<String>read(get("/durable/fail/" + id), "$.state").equals("DEAD"));
		delete("/durable/fail/" + id, 204);
		requeue("/durable/fail/" + id, 404);
		requeue("/durable/fail", 400);
	}

	@Test
	void theDeadOfANameAreGroupedRequeuedAndDeleted() {
		deadTasks("/durable/fail", "{\"action\":\"delete-dead\"}", 200);
		for (String id : List.of("a", "b", "c")) {
			this.tasks.enqueue(TaskId.of("durable/fail", id), Duration.ZERO, id);
		}
		awaitGroups(1, 1, 1);
		String body = get("/durable/fail?dead=true");
		assertThat(JsonPath.<String>read(body, "$.name")).isEqualTo("durable/fail");
		assertThat(JsonPath.<List<String>>read(body, "$.groups[*].error")).containsExactlyInAnyOrder(
				"java.lang.IllegalStateException: Failed a", "java.lang.IllegalStateException: Failed b",
				"java.lang.IllegalStateException: Failed c");
		assertThat(JsonPath.<Integer>read(body, "$.examined")).isEqualTo(3);
		assertThat(JsonPath.<Boolean>read(body, "$.complete")).isTrue();
		assertThat(JsonPath.<Map<String, Object>>read(body, "$.groups[0]")).containsOnlyKeys("error", "count", "first",
				"last", "id");
		assertThat(deadTasks("/durable/fail", "{\"action\":\"delete-dead\",\"error\":\"Failed b\"}", 200))
			.isEqualTo("{\"affected\":1,\"skipped\":0,\"remaining\":false}");
		this.tasks.enqueue(TaskId.of("durable/fail", "c"), Duration.ofHours(1), "c");
		assertThat(deadTasks("/durable/fail", "{\"action\":\"requeue-dead\"}", 200))
			.isEqualTo("{\"affected\":1,\"skipped\":1,\"remaining\":false}");
		awaitGroups(1, 1);
		assertThat(JsonPath.<List<String>>read(get("/durable/fail"), "$.next[*].key")).containsExactly("c");
		delete("/durable/fail/c", 204);
		assertThat(deadTasks("/durable/fail", "{\"action\":\"delete-dead\"}", 200))
			.isEqualTo("{\"affected\":2,\"skipped\":0,\"remaining\":false}");
		awaitGroups();
	}

	private void awaitGroups(Integer... counts) {
		await().untilAsserted(
				() -> assertThat(JsonPath.<List<Integer>>read(get("/durable/fail?dead=true"), "$.groups[*].count"))
					.containsExactly(counts));
	}

	@Test
	void aNameWithoutSlashesHasDeadTasksToo() {
		this.tasks.enqueue(TaskId.of("fail", "a"), Duration.ZERO, "a");
		await().until(() -> !JsonPath.<List<String>>read(get("/fail?dead=true"), "$.groups").isEmpty());
		assertThat(JsonPath.<Map<String, Object>>read(get("/fail?dead=false"), "$")).containsKey("next");
		assertThat(deadTasks("/fail", "{\"action\":\"delete-dead\"}", 200))
			.isEqualTo("{\"affected\":1,\"skipped\":0,\"remaining\":false}");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			/fail                | requeue-all  | 400 | The action on a name must be
			/durable/fail        | requeue      | 400 | The action on a name must be
			/billing/close-order | requeue-dead | 400 | are not durable
			/absent              | requeue-dead | 404 | No task has the name
			/durable/fail/5      | requeue-dead | 400 | must be
			""")
	void aRequestThatMakesNoSenseIsAnsweredWithWhatIsWrong(String path, String action, int status, String message) {
		assertThat(JsonPath.<String>read(deadTasks(path, "{\"action\":\"%s\"}".formatted(action), status), "$.error"))
			.contains(message);
	}

	@Test
	void aCursorOfNoReplyIsRefused() {
		String body = deadTasks("/fail", "{\"action\":\"delete-dead\",\"cursor\":\"5\"}", 400);
		assertThat(JsonPath.<String>read(body, "$.error")).contains("cursor");
	}

	private String deadTasks(String path, String request, int status) {
		byte[] body = this.client.post()
			.uri(uri(path))
			.header("Content-Type", "application/json")
			.body(request)
			.exchange()
			.expectStatus()
			.isEqualTo(status)
			.expectBody()
			.returnResult()
			.getResponseBodyContent();
		return new String(body, StandardCharsets.UTF_8);
	}

	@Test
	void aStoredTaskIsShownAndCancelled() {
		this.tasks.enqueue(TaskId.of("durable/fail", "a/b"), Duration.ofHours(1), "a/b");
		assertThat(JsonPath.<String>read(get("/durable/fail/a/b"), "$.key")).isEqualTo("a/b");
		delete("/durable/fail/a/b", 204);
		delete("/durable/fail/a/b", 404);
	}

	DelayedTask<?> schedule(String name, String key) {
		return this.tasks.schedule(TaskId.of(name, key), Duration.ofHours(1), () -> {
		});
	}

	String get(String path) {
		byte[] body = this.client.get()
			.uri(uri(path))
			.exchange()
			.expectStatus()
			.isOk()
			.expectBody()
			.returnResult()
			.getResponseBodyContent();
		return new String(body, StandardCharsets.UTF_8);
	}

	void delete(String path, int status) {
		this.client.delete().uri(uri(path)).exchange().expectStatus().isEqualTo(status);
	}

	private void requeue(String path, int status) {
		this.client.post()
			.uri(uri(path))
			.header("Content-Type", "application/json")
			.body("{\"action\":\"requeue\"}")
			.exchange()
			.expectStatus()
			.isEqualTo(status);
	}

	private URI uri(String path) {
		return URI.create("http://localhost:%s/actuator/delayedtasks%s"
			.formatted(this.environment.getProperty("local.server.port"), path));
	}

	@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT, classes = Application.class,
			properties = { "management.endpoints.web.exposure.include=delayedtasks",
					"management.endpoint.delayedtasks.access=unrestricted", "timingwheel.store.max-attempts=1",
					"timingwheel.store.poll-interval=20ms" })
	static class WithWebMvcTests extends EndpointPathTests {

		@Test
		void theParameterNeedsNoValue() {
			assertThat(JsonPath.<Map<String, Object>>read(get("/durable/fail?dead"), "$")).containsKey("groups");
			assertThat(JsonPath.<Map<String, Object>>read(get("/fail?dead"), "$")).containsKey("groups");
		}

	}

	@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT, classes = Application.class,
			properties = { "spring.main.web-application-type=reactive",
					"management.endpoints.web.exposure.include=delayedtasks",
					"management.endpoint.delayedtasks.access=unrestricted", "timingwheel.store.max-attempts=1",
					"timingwheel.store.poll-interval=20ms" })
	static class WithWebFluxTests extends EndpointPathTests {

		@Test
		void anEncodedSlashIsPartOfTheNameOrOfTheKey() {
			DelayedTask<?> hidden = schedule("reports", "daily/5");
			DelayedTask<?> task = schedule("reports/daily", "5");
			assertThat(JsonPath.<String>read(get("/reports%2Fdaily/5"), "$.id")).isEqualTo(task.id());
			assertThat(JsonPath.<String>read(get("/reports%2Fdaily"), "$.name")).isEqualTo("reports/daily");
			assertThat(JsonPath.<String>read(get("/reports/daily%2F5"), "$.id")).isEqualTo(hidden.id());
			delete("/reports/daily%2F5", 204);
			assertThat(hidden.isCancelled()).isTrue();
			assertThat(task.isDone()).isFalse();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration(exclude = DataSourceAutoConfiguration.class)
	static class Application {

		@Bean
		MemoryStore store() {
			return new MemoryStore();
		}

		@Delayed(delay = "1h", name = "billing/close-order", key = "#id")
		public void close(long id) {
		}

		@Delayed(delay = "1h", name = "durable/fail", key = "#id", durable = true)
		public void fail(String id) {
			throw new IllegalStateException("Failed " + id);
		}

		@Delayed(delay = "1h", name = "fail", key = "#id", durable = true)
		public void failToo(String id) {
			throw new IllegalStateException("Failed " + id);
		}

	}

}

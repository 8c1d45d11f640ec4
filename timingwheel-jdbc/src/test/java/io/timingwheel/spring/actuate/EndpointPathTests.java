package io.timingwheel.spring.actuate;

import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import com.jayway.jsonpath.JsonPath;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.durable.call.MemoryStore;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.TaskId;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.HttpMethod;
import org.springframework.http.MediaType;
import org.springframework.test.context.TestPropertySource;
import org.springframework.test.web.servlet.client.RestTestClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tasks and names are changed, and addressed by paths, with Spring MVC and with WebFlux.
 */
class EndpointPathTests {

	private static final Duration HOUR = Duration.ofHours(1);

	@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT, classes = Application.class,
			properties = { "management.endpoints.web.exposure.include=delayedtasks",
					"management.endpoint.delayedtasks.access=unrestricted", "timingwheel.store.poll-interval=20ms" })
	abstract static class Paths {

		@Autowired
		DelayedTaskOperations tasks;

		@Value("http://localhost:${local.server.port}/actuator/delayedtasks")
		private String endpoint;

		private final RestTestClient client = RestTestClient.bindToServer().build();

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
			delete(path, 204);
			assertThat(task.isCancelled()).isTrue();
			delete(path, 404);
			DelayedTask<?> unkeyed = this.tasks.task(() -> "never").name(name).after(HOUR);
			String byId = path.substring(0, path.indexOf('/', 1) + 1) + unkeyed.id();
			assertThat(this.<String>read(byId, "$.name")).isEqualTo(name);
			delete(byId, 204);
			assertThat(unkeyed.isCancelled()).isTrue();
		}

		@Test
		void aPathWithAnEncodedSlashInItsNameHasNoTask() {
			schedule("durable", "a/b");
			for (String path : List.of("/%20/5", "/dur/able/a/b")) {
				exchange(HttpMethod.GET, path, null, 404);
				delete(path, 404);
				post(path, "requeue", 404);
			}
			delete("/durable/a/b", 204);
		}

		@ParameterizedTest
		@ValueSource(strings = { "paged", "durable" })
		void pendingTasksInMemoryAndStoredOnesAreListedPageByPage(String name) {
			Set<String> keys = IntStream.range(0, 7).mapToObj((i) -> "paged " + i).collect(Collectors.toSet());
			keys.forEach((key) -> schedule(name, key));
			List<String> listed = new ArrayList<>();
			String cursor = "";
			while (cursor != null) {
				String body = get("/" + name + "?limit=3" + cursor);
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
		@ValueSource(strings = { "plain", "durable" })
		void aTaskInMemoryOrAStoredOneIsMovedAndRunNow(String name) {
			String id = schedule(name, "a/b").id();
			String path = "/" + name + "/a/b";
			exchange(HttpMethod.POST, path, "{\"action\":\"reschedule\",\"delay\":\"PT2H\"}", 204);
			assertThat(Instant.parse(read(path, "$.dueAt"))).isAfter(Instant.now().plus(Duration.ofMinutes(110)));
			post("/" + name + "/" + id, "run", 204);
			await().untilAsserted(() -> post(path, "run", 404));
		}

		@ParameterizedTest
		@ValueSource(strings = { "plain", "durable" })
		void aNameInMemoryOrADurableOneIsPausedAndResumed(String name) {
			post("/" + name, "pause", 204);
			schedule(name, "paused");
			post("/" + name + "/paused", "run", 204);
			await().until(() -> this.<Integer>read("/" + name, "$.counts.waiting") == 1);
			assertThat(this.<Boolean>read("/" + name, "$.counts.paused")).isTrue();
			post("/" + name, "resume", 204);
			await().until(() -> this.<Integer>read("/" + name, "$.counts.pending") == 0);
			assertThat(this.<Boolean>read("/" + name, "$.counts.paused")).isFalse();
		}

		DelayedTask<?> schedule(String name, String key) {
			TaskId id = TaskId.of(name, key);
			return name.equals("durable") ? this.tasks.enqueue(id, HOUR, key) : this.tasks.schedule(id, HOUR, () -> {
			});
		}

		<T> T read(String path, String jsonPath) {
			return JsonPath.read(get(path), jsonPath);
		}

		private String get(String path) {
			return exchange(HttpMethod.GET, path, null, 200);
		}

		void delete(String path, int status) {
			exchange(HttpMethod.DELETE, path, null, status);
		}

		private void post(String path, String action, int status) {
			exchange(HttpMethod.POST, path, "{\"action\":\"%s\"}".formatted(action), status);
		}

		String exchange(HttpMethod method, String path, String body, int status) {
			RestTestClient.RequestBodySpec request = this.client.method(method)
				.uri(URI.create(this.endpoint + path))
				.contentType(MediaType.APPLICATION_JSON);
			return ((body != null) ? request.body(body) : request).exchange()
				.expectStatus()
				.isEqualTo(status)
				.returnResult(String.class)
				.getResponseBody();
		}

	}

	@Nested
	class WithWebMvcTests extends Paths {

		@Test
		void theParameterNeedsNoValue() {
			assertThat(this.<Map<String, Object>>read("/durable?dead", "$")).containsKey("groups");
		}

	}

	@Nested
	@TestPropertySource(properties = "spring.main.web-application-type=reactive")
	class WithWebFluxTests extends Paths {

		@Test
		void anEncodedSlashIsPartOfTheKeyOrOfAnUnknownName() {
			DelayedTask<?> task = schedule("reports", "daily/5");
			assertThat(this.<String>read("/reports/daily%2F5", "$.id")).isEqualTo(task.id());
			exchange(HttpMethod.GET, "/reports%2Fdaily/5", null, 404);
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

		@Delayed(delay = "1h", name = "durable", key = "#id", durable = true)
		public void run(String id) {
		}

	}

}

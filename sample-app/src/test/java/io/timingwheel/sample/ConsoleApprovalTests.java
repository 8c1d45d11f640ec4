package io.timingwheel.sample;

import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

import com.jayway.jsonpath.JsonPath;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.Recurring;
import io.timingwheel.spring.annotation.TaskPolicy;
import io.timingwheel.spring.autoconfigure.TimingWheelBuilderCustomizer;
import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.Schedule;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.support.Approved;
import io.timingwheel.support.JsonLines;
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
 * Tests that nobody changes the answers that the page of the console reads without saying
 * so. The sample app has all that the page shows.
 */
@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT, classes = ConsoleApprovalTests.Application.class,
		properties = { "spring.config.location=optional:classpath:/without-those-of-the-sample/",
				"spring.application.name=shop", "management.endpoints.web.exposure.include=timingwheelconsole",
				"management.endpoint.timingwheelconsole.access=unrestricted",
				"management.endpoint.delayedtasks.show-values=always",
				"spring.datasource.url=jdbc:h2:mem:console-approval", "timingwheel.store.type=jdbc",
				"timingwheel.store.node-id=node-a", "timingwheel.store.poll-interval=10ms" })
class ConsoleApprovalTests {

	private static final String IN_ALL_VIEWS = "(acts|application|time|(lateness|node|totals|wheel)\\..*): .*";

	private final RestTestClient client;

	private final String page;

	private final List<String> lines = new ArrayList<>();

	ConsoleApprovalTests(@Value("${local.server.port}") int port) {
		this.page = "http://localhost:%d/actuator/timingwheelconsole".formatted(port);
		this.client = RestTestClient.bindToServer().build();
	}

	@Test
	void theAnswersOfTheConsoleAreTheApprovedOnes(@Autowired Application application,
			@Autowired DelayedTaskOperations tasks) {
		application.close(5);
		application.remind(7);
		application.fail(1);
		tasks.task(() -> {
		}).id(TaskId.of("reminder", "a")).on(Schedule.every(Duration.ofHours(1)));
		await().until(() -> JsonPath.<Integer>read(send(HttpMethod.GET, "/live?view=now", ""), "$.totals.dead") == 1);
		live("view=now&range=P1D");
		live("view=names");
		live("view=name&name=close&find=5");
		live("view=name&name=remind");
		live("view=name&name=fail");
		live("view=dead&name=fail");
		live("view=schedules");
		live("view=node");
		act("{\"action\":\"reschedule\",\"name\":\"close\",\"task\":\"5\",\"delay\":\"2h\"}");
		act("{\"action\":\"cancel\",\"name\":\"close\",\"task\":\"5\"}");
		act("{\"action\":\"cancel\",\"name\":\"close\",\"task\":\"5\"}");
		act("{\"action\":\"explode\",\"name\":\"close\",\"task\":\"5\"}");
		act("{\"action\":\"pause\",\"name\":\"fail\"}");
		act("{\"action\":\"requeue-dead\",\"name\":\"fail\",\"error\":\"no stock\"}");
		act("{\"action\":\"pause\"}");
		Approved.verify(getClass(), "console", this.lines);
	}

	private void live(String query) {
		boolean first = this.lines.isEmpty();
		this.lines.add("GET live?" + query);
		add(send(HttpMethod.GET, "/live?" + query, ""), first ? "" : IN_ALL_VIEWS);
	}

	private void act(String request) {
		this.lines.add("POST " + request);
		add(send(HttpMethod.POST, "", request), "");
	}

	private void add(String json, String withoutPaths) {
		// The figures of the engine, of the node and of the time that passes vary.
		JsonLines
			.of(JsonPath.read(json, "$"), (path,
					value) -> !path.matches("time|(wheel|node|lateness|totals)\\..+|nodes\\[.*|forecast\\.(from|span)")
							? null
							: (value instanceof Number) ? "<number>"
									: path.contains(".slots[") ? "<slots>"
											: String.valueOf(value).matches("PT.*|\\d+-\\d+-\\d+T.*") ? "<time>" : null)
			.stream()
			.filter((line) -> !line.matches(withoutPaths))
			.forEach((line) -> this.lines.add("\t" + line));
	}

	private String send(HttpMethod method, String path, String content) {
		RestTestClient.RequestBodySpec request = this.client.method(method)
			.uri(URI.create(this.page + path))
			.contentType(MediaType.APPLICATION_JSON);
		return Objects.requireNonNull((content.isEmpty() ? request : request.body(content)).exchange()
			.returnResult(String.class)
			.getResponseBody());
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

		@Bean
		TimingWheelBuilderCustomizer twoShards() {
			return (builder) -> builder.shards(2);
		}

		@Delayed(delay = "1h", key = "#orderId", name = "close")
		void close(long orderId) {
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

	}

}

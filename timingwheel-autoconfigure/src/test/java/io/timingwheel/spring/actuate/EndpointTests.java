package io.timingwheel.spring.actuate;

import java.lang.management.ManagementFactory;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.stream.IntStream;

import javax.management.MBeanParameterInfo;
import javax.management.MBeanServer;
import javax.management.ObjectName;

import com.jayway.jsonpath.JsonPath;
import io.timingwheel.ManualTimeSource;
import io.timingwheel.TimingWheel;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.autoconfigure.TimingWheelBuilderCustomizer;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.memory.DelayedTaskRegistry;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.test.web.servlet.client.RestTestClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;
import static org.awaitility.Awaitility.await;

/**
 * Tests of the endpoints over HTTP and JMX, with the default access: tasks are shown, but
 * cannot be cancelled. Arguments are not shown.
 */
@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT, classes = EndpointTests.Application.class,
		properties = { "management.endpoints.web.exposure.include=timingwheel,delayedtasks,health",
				"management.endpoint.health.show-details=always", "management.health.redis.enabled=false",
				"spring.jmx.enabled=true", "spring.jmx.default-domain=endpoint-tests",
				"management.endpoints.jmx.exposure.include=timingwheel", "timingwheel.tick=10ms" })
class EndpointTests {

	@Autowired
	private Application application;

	@Autowired
	private DelayedTaskOperations tasks;

	@Autowired
	private TimingWheel wheel;

	@Autowired
	private ManualTimeSource time;

	private final RestTestClient client;

	private final String actuator;

	EndpointTests(@Value("${local.server.port}") int port) {
		this.actuator = "http://localhost:%d/actuator".formatted(port);
		this.client = RestTestClient.bindToServer().build();
	}

	@AfterEach
	void cancelPending(@Autowired DelayedTaskRegistry registry) {
		registry.atShutdown().cancelPending();
	}

	@Test
	void theWheelIsShownAndWhenItsNextTimerIsDue(@Autowired DelayedTaskRegistry registry) {
		assertThat(JsonPath.<Map<String, Object>>read(get("/timingwheel"), "$")).contains(entry("pending", 0),
				entry("nextExpiry", null));
		this.tasks.schedule(Duration.ofMinutes(30), () -> "never");
		Instant now = registry.clock().now();
		String body = get("/timingwheel");
		assertThat(JsonPath.<Map<String, Object>>read(body, "$")).contains(entry("state", "RUNNING"),
				entry("tick", "PT0.01S"), entry("wheelSize", 64), entry("shards", 2), entry("pending", 1),
				entry("scheduled", (int) this.wheel.snapshot().scheduled()));
		assertThat(Instant.parse(JsonPath.read(body, "$.nextExpiry"))).isBetween(now, now.plus(Duration.ofMinutes(30)));
	}

	@Test
	void declaredNamesAreListedAtZeroBeforeTheirFirstCall() {
		String body = get("/delayedtasks");
		// Without a store there are no nodes. Other tests may have made further pages.
		assertThat(JsonPath.<Map<String, Object>>read(body, "$")).containsKeys("tasks", "totals")
			.doesNotContainKey("nodes");
		assertThat(counts(body, "declared")).containsExactly(entry("durable", false), entry("pending", 0),
				entry("running", 0), entry("completed", 0), entry("failed", 0), entry("cancelled", 0),
				entry("expired", 0), entry("overdue", 0), entry("dead", 0), entry("paused", false), entry("waiting", 0),
				entry("estimated", false));
	}

	@Test
	void tasksAreCountedByTheirNameAndOutcome() {
		String name = "counted";
		CompletableFuture<String> release = new CompletableFuture<>();
		DelayedTask<String> completed = this.tasks.task(() -> "done").name(name).after(Duration.ZERO);
		DelayedTask<String> failed = this.tasks.<String>task(() -> {
			throw new IllegalStateException("Failed");
		}).name(name).after(Duration.ZERO);
		DelayedTask<String> running = this.tasks.task(() -> release.join()).name(name).after(Duration.ZERO);
		this.tasks.task(() -> "never").name(name).after(Duration.ofHours(1)).cancel(false);
		this.tasks.task(() -> "later").name(name).after(Duration.ofHours(1));
		this.time.advance(Duration.ZERO);
		assertThat(completed.completion()).succeedsWithin(Duration.ofMinutes(1));
		assertThat(failed.completion()).failsWithin(Duration.ofMinutes(1));
		await().until(() -> running.status() == DelayedTask.Status.RUNNING);
		assertThat(counts(get("/delayedtasks"), name)).contains(entry("pending", 1), entry("running", 1),
				entry("completed", 1), entry("failed", 1), entry("cancelled", 1));
		release.complete("done");
	}

	@Test
	void aForecastCountsTheTasksThatFallDueInEachOfSixtySpans() {
		IntStream.of(0, 59, 61, 61, 3599, 3601)
			.forEach((seconds) -> this.tasks.task(() -> "never").name("ahead").after(Duration.ofSeconds(seconds)));
		String body = get("/delayedtasks?forecast=PT1H");
		assertThat(JsonPath.<Map<String, Object>>read(body, "$")).containsOnlyKeys("from", "span", "tasks", "complete");
		assertThat(JsonPath.<String>read(body, "$.span")).isEqualTo("PT1M");
		assertThat(Duration.between(Instant.parse(JsonPath.read(body, "$.from")), Instant.now()))
			.isBetween(Duration.ZERO, Duration.ofMinutes(10));
		assertThat(JsonPath.<Boolean>read(body, "$.tasks.ahead.estimated")).isFalse();
		List<Integer> counts = JsonPath.read(body, "$.tasks.ahead.counts");
		assertThat(counts).hasSize(60).startsWith(2, 2, 0).endsWith(0, 1);
		assertThat(counts.stream().mapToInt(Integer::intValue).sum()).isEqualTo(5);
		assertThat(JsonPath.<Map<String, Object>>read(body, "$.tasks")).doesNotContainKey("declared");
	}

	@Test
	void noAnswerIsLargerThanAHundredKilobytes() {
		String wide = "\u65e5".repeat(500);
		IntStream.range(0, 100)
			.forEach((i) -> this.tasks.schedule(TaskId.of("wide", wide + i), Duration.ofHours(1), () -> {
			}));
		IntStream.range(0, 600)
			.forEach(
					(i) -> this.tasks.schedule(TaskId.of("name " + "n".repeat(100) + i, 1), Duration.ofHours(1), () -> {
					}));
		Set<String> keys = new HashSet<>();
		pages("/delayedtasks/wide", (body) -> keys.addAll(JsonPath.<List<String>>read(body, "$.next[*].key")));
		assertThat(keys).hasSize(100);
		Set<String> names = new HashSet<>();
		pages("/delayedtasks", (body) -> names.addAll(JsonPath.<Map<String, Object>>read(body, "$.tasks").keySet()));
		assertThat(names).hasSizeGreaterThan(601).contains("wide", "declared");
	}

	@Test
	void manyNamesAreListedInPagesOfAHundredWithExactTotals() {
		IntStream.range(0, 1300)
			.forEach((i) -> this.tasks.schedule(TaskId.of("many-" + i, 1), Duration.ofHours(1), () -> {
			}));
		Set<String> names = new HashSet<>();
		pages("/delayedtasks", (body) -> {
			Map<String, Object> page = JsonPath.read(body, "$.tasks");
			assertThat(page).hasSizeLessThanOrEqualTo(100);
			assertThat(JsonPath.<Integer>read(body, "$.totals.names")).isGreaterThanOrEqualTo(1300);
			names.addAll(page.keySet());
		});
		assertThat(names).contains("many-0", "many-1299");
		String found = get("/delayedtasks?search=MANY-129");
		assertThat(JsonPath.<Map<String, Object>>read(found, "$.tasks")).hasSize(11).containsKey("many-1299");
		assertThat(JsonPath.<Map<String, Object>>read(found, "$.totals")).containsEntry("names", 11)
			.containsEntry("pending", 11)
			.containsEntry("dead", 0);
		assertThat(JsonPath.<Map<String, Object>>read(get("/delayedtasks?search=many-&cursor=many-1298"), "$.totals"))
			.as("of all pages")
			.containsEntry("pending", 1300);
		this.client.get()
			.uri(URI.create(this.actuator + "/delayedtasks?forecast=PT1H&search=many"))
			.exchange()
			.expectStatus()
			.isBadRequest();
	}

	private void pages(String path, Consumer<String> reader) {
		String cursor = "";
		int pages = 0;
		while (cursor != null) {
			String body = get(path + cursor);
			assertThat(body.getBytes(StandardCharsets.UTF_8)).hasSizeLessThan(100_000);
			reader.accept(body);
			String next = JsonPath.<List<String>>read(body, "$[?(@.cursor)].cursor").stream().findFirst().orElse(null);
			cursor = (next != null) ? "?cursor=" + URLEncoder.encode(next, StandardCharsets.UTF_8).replace("+", "%20")
					: null;
			pages++;
		}
		assertThat(pages).isBetween(2, 40);
	}

	@Test
	void aTaskIsShownByItsKeyAndByItsIdWithoutItsArguments() {
		this.application.closeIfUnpaid(5, "secret");
		DelayedTask<?> task = this.tasks.find(TaskId.of("close-order", 5)).orElseThrow();
		String byKey = get("/delayedtasks/close-order/5");
		assertThat(JsonPath.<Map<String, Object>>read(byKey, "$")).containsExactly(entry("id", task.id()),
				entry("name", "close-order"), entry("key", "5"), entry("dueAt", task.dueAt().toString()));
		assertThat(get("/delayedtasks/close-order/" + task.id())).isEqualTo(byKey);
		assertThat(get("/delayedtasks/close-order")).contains(task.id()).doesNotContain("secret");
	}

	@Test
	void tasksCannotBeCancelledByDefault() {
		DelayedTask<?> task = this.tasks.schedule(TaskId.of("protected", 5), Duration.ofHours(1), () -> {
		});
		this.client.delete()
			.uri(URI.create(this.actuator + "/delayedtasks/protected/5"))
			.exchange()
			.expectStatus()
			.isEqualTo(405);
		assertThat(task.status()).isEqualTo(DelayedTask.Status.SCHEDULED);
	}

	@Test
	void theWheelIsShownOverJmx() throws Exception {
		assertThat(invoke("Timingwheel", "wheel")).containsEntry("state", "RUNNING");
	}

	@SuppressWarnings("unchecked")
	private static Map<String, Object> invoke(String endpoint, String operation, Object... arguments) throws Exception {
		MBeanServer server = ManagementFactory.getPlatformMBeanServer();
		ObjectName name = new ObjectName("endpoint-tests:type=Endpoint,name=" + endpoint);
		String[] signature = Arrays.stream(server.getMBeanInfo(name).getOperations())
			.filter((info) -> info.getName().equals(operation))
			.flatMap((info) -> Arrays.stream(info.getSignature()))
			.map(MBeanParameterInfo::getType)
			.toArray(String[]::new);
		return (Map<String, Object>) server.invoke(name, operation, arguments, signature);
	}

	private static Map<String, Object> counts(String body, String name) {
		return JsonPath.read(body, "$.tasks['%s']".formatted(name));
	}

	private String get(String path) {
		byte[] body = this.client.get()
			.uri(URI.create(this.actuator + path))
			.exchange()
			.expectStatus()
			.isOk()
			.expectBody()
			.returnResult()
			.getResponseBodyContent();
		return new String(body, StandardCharsets.UTF_8);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration(exclude = DataSourceAutoConfiguration.class)
	static class Application {

		@Bean
		ManualTimeSource time() {
			return new ManualTimeSource();
		}

		@Bean
		TimingWheelBuilderCustomizer manualTime(ManualTimeSource time) {
			return (builder) -> builder.timeSource(time).wheelSize(64).shards(2);
		}

		@Delayed(delay = "1h", name = "declared", key = "#id")
		void declared(long id) {
		}

		@Delayed(delay = "30m", name = "close-order", key = "#orderId")
		void closeIfUnpaid(long orderId, String customer) {
		}

	}

}

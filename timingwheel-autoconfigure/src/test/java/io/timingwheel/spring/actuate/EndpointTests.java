package io.timingwheel.spring.actuate;

import java.lang.management.ManagementFactory;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.IntStream;

import javax.management.ObjectName;

import com.jayway.jsonpath.JsonPath;
import io.timingwheel.ManualTimeSource;
import io.timingwheel.TimingWheel;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.autoconfigure.TimingWheelBuilderCustomizer;
import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.Schedule;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.memory.DelayedTaskRegistry;
import org.assertj.core.api.InstanceOfAssertFactories;
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

/** The endpoints over HTTP and JMX, without a store and in virtual time. */
@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT, classes = EndpointTests.Application.class,
		properties = { "management.endpoints.web.exposure.include=timingwheel,delayedtasks", "spring.jmx.enabled=true",
				"spring.jmx.default-domain=endpoint-tests", "management.endpoints.jmx.exposure.include=timingwheel",
				"timingwheel.tick=10ms" })
class EndpointTests {

	@Autowired
	private DelayedTaskOperations tasks;

	@Autowired
	private DelayedTaskRegistry registry;

	@Value("http://localhost:${local.server.port}/actuator")
	private String actuator;

	private final RestTestClient client = RestTestClient.bindToServer().build();

	@AfterEach
	void cancelPending() {
		this.registry.atShutdown().cancelPending();
	}

	@Test
	void theWheelIsShownAndWhenItsNextTimerIsDue(@Autowired TimingWheel wheel) throws Exception {
		this.registry.atShutdown().cancelPending();
		assertThat(this.<Map<String, Object>>read("/timingwheel", "$")).contains(entry("pending", 0),
				entry("nextExpiry", null));
		assertThat(this.<Map<String, Object>>read("/delayedtasks", "$")).doesNotContainKey("nodes");
		this.tasks.schedule(Duration.ofMinutes(30), () -> "never");
		Instant now = this.registry.clock().now();
		assertThat(this.<Map<String, Object>>read("/timingwheel", "$")).contains(entry("state", "RUNNING"),
				entry("tick", "PT0.01S"), entry("wheelSize", 64), entry("shards", 2), entry("pending", 1),
				entry("scheduled", (int) wheel.snapshot().scheduled()));
		assertThat(Instant.parse(read("/timingwheel", "$.nextExpiry"))).isBetween(now,
				now.plus(Duration.ofMinutes(30)));
		ObjectName bean = new ObjectName("endpoint-tests:type=Endpoint,name=Timingwheel");
		assertThat(ManagementFactory.getPlatformMBeanServer().invoke(bean, "wheel", new Object[0], new String[0]))
			.asInstanceOf(InstanceOfAssertFactories.MAP)
			.containsEntry("state", "RUNNING");
	}

	@Test
	void aForecastCountsTheTasksThatFallDueInEachOfSixtySpans() {
		IntStream.of(0, 59, 61, 61, 3599, 3601)
			.forEach((seconds) -> this.tasks.task(() -> "never").name("ahead").after(Duration.ofSeconds(seconds)));
		String path = "/delayedtasks?forecast=PT1H";
		assertThat(this.<Map<String, Object>>read(path, "$")).containsOnlyKeys("from", "span", "tasks", "complete")
			.containsEntry("span", "PT1M");
		assertThat(Duration.between(Instant.parse(read(path, "$.from")), Instant.now())).isBetween(Duration.ZERO,
				Duration.ofMinutes(10));
		assertThat(this.<Map<String, Object>>read(path, "$.tasks")).doesNotContainKey("declared");
		assertThat(this.<Boolean>read(path, "$.tasks.ahead.estimated")).isFalse();
		assertThat(this.<List<Integer>>read(path, "$.tasks.ahead.counts")).hasSize(60)
			.startsWith(2, 2, 0)
			.endsWith(0, 1)
			.satisfies((counts) -> assertThat(counts.stream().mapToInt(Integer::intValue).sum()).isEqualTo(5));
	}

	@Test
	void noAnswerIsLargerThanAHundredKilobytes() {
		String wide = "\u65e5".repeat(500);
		IntStream.range(0, 100).forEach((i) -> schedule("wide", wide + i));
		IntStream.range(0, 600).forEach((i) -> schedule("name " + "n".repeat(100) + i, "1"));
		Set<String> keys = new HashSet<>();
		pages("/delayedtasks/wide", (body) -> keys.addAll(JsonPath.<List<String>>read(body, "$.next[*].key")));
		assertThat(keys).hasSize(100);
		Set<String> names = new HashSet<>();
		pages("/delayedtasks", (body) -> names.addAll(JsonPath.<Map<String, Object>>read(body, "$.tasks").keySet()));
		assertThat(names).hasSizeGreaterThan(601).contains("wide", "declared");
	}

	@Test
	void manyNamesAreListedInPagesOfAHundredWithExactTotals() {
		IntStream.range(0, 1300).forEach((i) -> schedule("many-" + i, "1"));
		Set<String> names = new HashSet<>();
		pages("/delayedtasks", (body) -> {
			Map<String, Object> page = JsonPath.read(body, "$.tasks");
			assertThat(page).hasSizeLessThanOrEqualTo(100);
			assertThat(JsonPath.<Integer>read(body, "$.totals.names")).isGreaterThanOrEqualTo(1300);
			names.addAll(page.keySet());
		});
		assertThat(names).contains("many-0", "many-1299");
		assertThat(this.<Map<String, Object>>read("/delayedtasks?search=MANY-129", "$.tasks")).hasSize(11)
			.containsKey("many-1299");
		assertThat(this.<Map<String, Object>>read("/delayedtasks?search=MANY-129", "$.totals"))
			.contains(entry("names", 11), entry("pending", 11), entry("dead", 0));
		assertThat(this.<Integer>read("/delayedtasks?search=many-&cursor=many-1298", "$.totals.pending"))
			.as("of all pages")
			.isEqualTo(1300);
	}

	private void pages(String path, Consumer<String> reader) {
		String cursor = "";
		int pages = 0;
		while (cursor != null) {
			String body = get(path + cursor);
			assertThat(body.getBytes(StandardCharsets.UTF_8)).hasSizeLessThan(100_000);
			reader.accept(body);
			List<String> next = JsonPath.read(body, "$[?(@.cursor)].cursor");
			cursor = next.isEmpty() ? null
					: "?cursor=" + URLEncoder.encode(next.get(0), StandardCharsets.UTF_8).replace("+", "%20");
			pages++;
		}
		assertThat(pages).isBetween(2, 40);
	}

	@Test
	void aRecurringTaskHasItsScheduleAndItsNextTimeAlsoWhenItIsMoved() {
		TaskId id = this.tasks.task(() -> {
		}).id(TaskId.of("report", 1)).on(Schedule.every(Duration.ofHours(1))).taskId();
		Map<String, String> task = read("/delayedtasks/report/1", "$");
		assertThat(task).containsEntry("schedule", "every(PT1H)").containsEntry("next", task.get("dueAt"));
		this.tasks.reschedule(id, Duration.ofMinutes(10));
		assertThat(this.<Map<String, String>>read("/delayedtasks/report/1", "$")).satisfies(
				(moved) -> assertThat(moved.get("next")).isEqualTo(moved.get("dueAt")).isLessThan(task.get("dueAt")));
	}

	private void schedule(String name, String key) {
		this.tasks.schedule(TaskId.of(name, key), Duration.ofHours(1), () -> {
		});
	}

	private <T> T read(String path, String jsonPath) {
		return JsonPath.read(get(path), jsonPath);
	}

	private String get(String path) {
		return this.client.get()
			.uri(URI.create(this.actuator + path))
			.exchange()
			.expectStatus()
			.isOk()
			.returnResult(String.class)
			.getResponseBody();
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

	}

}

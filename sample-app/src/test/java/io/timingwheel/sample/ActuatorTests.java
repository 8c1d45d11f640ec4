package io.timingwheel.sample;

import java.time.Duration;
import java.time.Instant;

import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.test.json.JsonContent;
import org.springframework.test.web.servlet.client.RestTestClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

@EndToEndTest
@ResourceLock("orders")
class ActuatorTests {

	@Autowired
	private RestTestClient http;

	@Test
	void theWheelIsShown() {
		this.http.post().uri("/orders").exchange().expectStatus().isCreated();
		JsonContent wheel = get("/actuator/timingwheel");
		assertThat(wheel).extractingPath("$")
			.asMap()
			.containsOnlyKeys("state", "tick", "wheelSize", "shards", "pending", "scheduled", "rescheduled", "fired",
					"cancelled", "returned", "rejected", "refused", "wakeUps", "lag", "maxLag", "nextExpiry", "levels");
		assertThat(wheel).extractingPath("$.state").isEqualTo("RUNNING");
		assertThat(wheel).extractingPath("$.tick").isEqualTo("PT0.001S");
		assertThat(wheel).extractingPath("$.pending").asInstanceOf(InstanceOfAssertFactories.INTEGER).isPositive();
		assertThat(wheel).extractingPath("$.scheduled").asInstanceOf(InstanceOfAssertFactories.INTEGER).isPositive();
		assertThat(wheel).extractingPath("$.maxLag").asString().satisfies(Duration::parse);
		assertThat(wheel).extractingPath("$.nextExpiry").asString().satisfies(Instant::parse);
		assertThat(wheel).extractingPath("$.levels[0]")
			.asMap()
			.containsOnlyKeys("level", "tick", "span", "pending", "occupiedSlots");
		assertThat(wheel).extractingPath("$.levels[0].tick").isEqualTo("PT0.001S");
		assertThat(wheel).extractingPath("$.levels[*].pending")
			.asInstanceOf(InstanceOfAssertFactories.list(Integer.class))
			.anySatisfy((pending) -> assertThat(pending).isPositive());
	}

	@Test
	void theTasksAreShownByName() {
		// A slow machine may close an order before the figures are read.
		await().untilAsserted(this::assertTasks);
	}

	private void assertTasks() {
		this.http.post().uri("/orders").exchange().expectStatus().isCreated();
		JsonContent tasks = get("/actuator/delayedtasks");
		assertThat(tasks).extractingPath("$.tasks").asMap().containsKeys("close-order", "driver-silent");
		assertThat(tasks).extractingPath("$.tasks.close-order")
			.asMap()
			.containsOnlyKeys("durable", "pending", "running", "completed", "failed", "cancelled", "expired", "overdue",
					"dead", "paused", "waiting", "estimated")
			.containsEntry("durable", false);
		assertThat(tasks).extractingPath("$.tasks.close-order.pending")
			.asInstanceOf(InstanceOfAssertFactories.INTEGER)
			.isPositive();
	}

	@Test
	void theTasksAreMeasured() {
		this.http.post().uri("/orders").exchange().expectStatus().isCreated();
		assertThat(get("/actuator/metrics")).extractingPath("$.names")
			.asArray()
			.contains("timingwheel.tasks.pending", "timingwheel.tasks", "timingwheel.tasks.lateness",
					"timingwheel.tasks.duration", "timingwheel.lag");
	}

	@Test
	void theWheelIsHealthy() {
		// On a machine that stalls the wheel may lag for a while, and is DOWN then.
		await()
			.untilAsserted(() -> assertThat(get("/actuator/health")).extractingPath("$.components.timingWheel.status")
				.isEqualTo("UP"));
	}

	private JsonContent get(String uri) {
		String body = this.http.get()
			.uri(uri)
			.exchange()
			.expectStatus()
			.isOk()
			.expectBody(String.class)
			.returnResult()
			.getResponseBody();
		assertThat(body).isNotNull();
		return new JsonContent(body);
	}

}

package io.timingwheel.test;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DelayedTaskOperations;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;

@SpringBootTest(properties = { "timingwheel.tasks.sent.rate=1/m", "timingwheel.tasks.flaky.max-attempts=3",
		"timingwheel.tasks.stopped.paused=true" })
@AutoConfigureVirtualTime
class PolicyTests {

	@Autowired
	private VirtualTime time;

	@Autowired
	private DelayedTaskOperations operations;

	private final List<Instant> runs = new ArrayList<>();

	@Test
	void aRateSpreadsTheStartsOverVirtualTime() {
		Instant start = this.time.now();
		for (int i = 0; i < 3; i++) {
			this.operations.task(() -> this.runs.add(this.time.now())).name("sent").after(Duration.ofSeconds(1));
		}
		this.time.runAll();
		assertThat(this.runs).hasSize(3).first().isEqualTo(start.plusSeconds(1));
		assertThat(Duration.between(this.runs.get(0), this.runs.get(2))).isBetween(Duration.ofMinutes(2),
				Duration.ofSeconds(121));
	}

	@Test
	void attemptsFollowABackoffThatDoesNotVary() {
		Instant start = this.time.now();
		DelayedTask<?> task = this.operations.task(() -> {
			this.runs.add(this.time.now());
			if (this.runs.size() < 3) {
				throw new IllegalStateException("attempt " + this.runs.size());
			}
		}).name("flaky").after(Duration.ofSeconds(1));
		this.time.runAll();
		assertThat(this.runs).containsExactly(start.plusSeconds(1), start.plusSeconds(2), start.plusSeconds(4));
		assertThat(task.completion()).isCompleted();
	}

	@Test
	void runAllLeavesThePausedTasksAloneEvenBesideOneThatRepeats() {
		this.operations.task(() -> this.runs.add(this.time.now())).name("stopped").after(Duration.ofSeconds(1));
		DelayedTask<?> repeating = this.operations.task(() -> {
		}).name("repeating").every(Duration.ofHours(1));
		this.time.runAll();
		this.time.advance(Duration.ofMinutes(1));
		assertThat(this.runs).isEmpty();
		assertThat(this.time).hasPendingCount("stopped", 1);
		repeating.cancel(false);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

	}

}

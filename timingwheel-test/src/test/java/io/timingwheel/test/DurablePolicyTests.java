package io.timingwheel.test;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

import io.timingwheel.spring.annotation.Backoff;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.TaskPolicy;
import io.timingwheel.spring.durable.DurableTaskAdmin;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

import static org.assertj.core.api.Assertions.assertThat;

@SpringBootTest(properties = { "timingwheel.store.type=jdbc", "spring.datasource.url=jdbc:h2:mem:policies" })
@AutoConfigureVirtualTime
class DurablePolicyTests {

	@Autowired
	private VirtualTime time;

	@Autowired
	private Limited limited;

	@Autowired
	private DurableTaskAdmin admin;

	private Instant start;

	@BeforeEach
	void clear() {
		this.limited.runs().clear();
		this.start = this.time.now();
	}

	@RepeatedTest(2)
	void aRateSpreadsTheStarts() {
		for (int i = 0; i < 3; i++) {
			this.limited.send();
		}
		this.time.runAll();
		assertThat(this.limited.runs()).hasSize(3).first().isEqualTo(this.start.plusSeconds(1));
		assertThat(Duration.between(this.limited.runs().get(0), this.limited.runs().get(2)))
			.isBetween(Duration.ofMinutes(2), Duration.ofSeconds(121));
	}

	@Test
	void oneAfterAnotherIsAtTheSameTime() {
		for (int i = 0; i < 3; i++) {
			this.limited.single();
		}
		this.time.advance(Duration.ofSeconds(1));
		assertThat(this.limited.runs()).hasSize(3).containsOnly(this.start.plusSeconds(1));
	}

	@Test
	void aDebounceCannotStarve() {
		for (int i = 0; i < 12; i++) {
			this.limited.index("all");
			this.time.advance(Duration.ofSeconds(5));
		}
		assertThat(this.limited.runs()).containsExactly(this.start.plusSeconds(30), this.start.plusSeconds(60));
	}

	@Test
	void attemptsFollowTheBackoffOfTheName() {
		this.time.failNext("flaky", new IllegalStateException("first"));
		this.time.onFailure(VirtualTime.OnFailure.COLLECT);
		this.limited.flaky();
		this.time.advance(Duration.ofSeconds(1));
		assertThat(this.time).hasPending("flaky").dueIn(Duration.ofSeconds(10));
		this.time.advance(Duration.ofSeconds(10));
		assertThat(this.limited.runs()).containsExactly(this.start.plusSeconds(11));
	}

	@RepeatedTest(2)
	void pausesOfANameAndOfTheNodeEndWithTheMethod() {
		this.limited.single();
		this.time.advance(Duration.ofSeconds(1));
		assertThat(this.limited.runs()).hasSize(1);
		this.admin.setPaused("single", true);
		this.limited.single();
		this.time.advance(Duration.ofSeconds(1));
		assertThat(this.limited.runs()).hasSize(1);
		this.admin.pause();
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(Limited.class)
	static class Config {

	}

	static class Limited {

		private final List<Instant> runs = new ArrayList<>();

		private final VirtualTime time;

		Limited(VirtualTime time) {
			this.time = time;
		}

		List<Instant> runs() {
			return this.runs;
		}

		@Delayed(delay = "1s", name = "sent", durable = true, policy = @TaskPolicy(rate = "1/m"))
		public void send() {
			this.runs.add(this.time.now());
		}

		@Delayed(delay = "1s", name = "single", durable = true, policy = @TaskPolicy(maxConcurrent = 1))
		public void single() {
			this.runs.add(this.time.now());
		}

		@Delayed(delay = "10s", name = "index", key = "#id", maxWait = "30s", durable = true)
		public void index(String id) {
			this.runs.add(this.time.now());
		}

		@Delayed(delay = "1s", name = "flaky", durable = true,
				policy = @TaskPolicy(maxAttempts = 3, backoff = @Backoff(initial = "10s")))
		public void flaky() {
			this.runs.add(this.time.now());
		}

	}

}

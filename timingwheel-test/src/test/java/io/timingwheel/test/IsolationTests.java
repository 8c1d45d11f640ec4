package io.timingwheel.test;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicInteger;

import io.timingwheel.spring.task.DelayedTaskOperations;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.ApplicationRunner;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

/**
 * Each method must pass after any other one, and a second time.
 */
@SpringBootTest(classes = IsolationTests.Config.class)
@AutoConfigureVirtualTime
class IsolationTests {

	@Autowired
	private VirtualTime time;

	@Autowired
	private DelayedTaskOperations tasks;

	@Autowired
	private AtomicInteger beats;

	@RepeatedTest(2)
	void eachMethodBeginsWithNothingPendingAtTheRealTime() {
		begin();
	}

	private void begin() {
		assertThat(this.time).hasNoPending("left-over");
		assertThat(this.time.failures()).isEmpty();
		assertThat(this.time.now()).isCloseTo(Instant.now(), within(Duration.ofMinutes(1)));
		this.tasks.task(() -> {
		}).name("left-over").after(Duration.ofDays(1));
		this.time.advance(Duration.ofHours(12));
		this.time.onFailure(VirtualTime.OnFailure.COLLECT);
		this.time.failNext("left-over", new IllegalStateException());
		assertThat(this.time).hasPending("left-over").dueIn(Duration.ofHours(12));
	}

	@RepeatedTest(2)
	void aPeriodicTaskOfTheApplicationStays() {
		Instant now = this.time.now();
		assertThat(this.time.tasks("heartbeat")).singleElement()
			.satisfies((task) -> assertThat(task.dueAt()).isBetween(now, now.plus(Duration.ofMinutes(1))));
		int before = this.beats.get();
		this.time.advance(Duration.ofMinutes(3));
		assertThat(this.beats.get() - before).isEqualTo(3);
	}

	@Nested
	class NestedClass {

		@Test
		void sharesTheContextAndIsIsolatedToo() {
			begin();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Config {

		@Bean
		AtomicInteger beats() {
			return new AtomicInteger();
		}

		@Bean
		ApplicationRunner heartbeat(DelayedTaskOperations tasks, AtomicInteger beats) {
			return (arguments) -> tasks.task(() -> {
				beats.incrementAndGet();
			}).name("heartbeat").every(Duration.ofMinutes(1));
		}

	}

}

package io.timingwheel.test;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

import io.timingwheel.spring.task.DelayedTaskOperations;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.test.context.TestPropertySource;
import org.springframework.test.context.junit.jupiter.SpringJUnitConfig;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * JUnit runs these methods on several threads at a time, and they have one context, which
 * Spring starts without Boot.
 */
@SpringJUnitConfig(ParallelMethodTests.Config.class)
@AutoConfigureVirtualTime
@Execution(ExecutionMode.CONCURRENT)
class ParallelMethodTests {

	@Autowired
	private VirtualTime time;

	@Autowired
	private DelayedTaskOperations tasks;

	@Test
	void aBeanWithTasksNeedsNothingOfBoot(@Autowired Runs runs, @Autowired Jobs.InMemory jobs) {
		jobs.run("a", Duration.ofMinutes(5));
		this.time.advance(Duration.ofMinutes(5));
		assertThat(runs.names()).containsExactly("a");
	}

	@RepeatedTest(8)
	void eachMethodHasTheTimeForItself() {
		assertThat(this.time).hasNothingPending();
		List<Instant> runs = new ArrayList<>();
		Instant start = this.time.now();
		this.tasks.task(() -> runs.add(this.time.now())).name("beat").every(Duration.ofSeconds(1));
		for (int i = 0; i < 25; i++) {
			this.time.advance(Duration.ofSeconds(1));
		}
		assertThat(runs).hasSize(25);
		assertThat(this.time.now()).isEqualTo(start.plusSeconds(25));
		assertThat(this.time).hasPending("beat").dueIn(Duration.ofSeconds(1));
	}

	@Configuration(proxyBeanMethods = false)
	@Import({ Runs.class, Jobs.InMemory.class })
	static class Config {

	}

}

/** With a store. */
@EnableAutoConfiguration
@TestPropertySource(properties = "timingwheel.store.type=jdbc")
class ParallelStoreMethodTests extends ParallelMethodTests {

}

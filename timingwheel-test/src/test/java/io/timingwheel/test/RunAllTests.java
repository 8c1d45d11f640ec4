package io.timingwheel.test;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

import io.timingwheel.spring.task.DelayedTaskOperations;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

@SpringBootTest
@AutoConfigureVirtualTime
class RunAllTests {

	@Autowired
	private VirtualTime time;

	@Autowired
	private DelayedTaskOperations tasks;

	@Test
	void anEndlessChainEndsWithAMessage() {
		again(new AtomicInteger());
		assertThatIllegalStateException().isThrownBy(this.time::runAll)
			.withMessageContaining("The tasks do not come to an end")
			.withMessageContaining("runAll has run 20000 of them")
			.withMessageContaining("pending is again (due in 1s)")
			.withMessageContaining("use advance");
	}

	@Test
	void theMessageAtTheLimitBringsTheFailuresOfBodies() {
		IllegalStateException inABody = new IllegalStateException("in a body");
		this.tasks.schedule(Duration.ofSeconds(1), () -> {
			throw inABody;
		});
		again(new AtomicInteger());
		assertThatIllegalStateException().isThrownBy(this.time::runAll)
			.withMessageContaining("do not come to an end")
			.satisfies((ex) -> assertThat(ex.getSuppressed()).containsExactly(inABody));
	}

	private void again(AtomicInteger runs) {
		this.tasks.task(() -> {
			runs.incrementAndGet();
			again(runs);
		}).name("again").after(Duration.ofSeconds(1));
	}

	@Test
	void aLongChainThatEndsRuns() {
		AtomicInteger runs = new AtomicInteger();
		new Object() {
			void next() {
				if (runs.incrementAndGet() < 10_000) {
					RunAllTests.this.tasks.task(this::next).name("next").after(Duration.ofDays(1));
				}
			}
		}.next();
		this.time.runAll();
		assertThat(runs).hasValue(10_000);
		assertThat(this.time).hasNothingPending();
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Config {

	}

}

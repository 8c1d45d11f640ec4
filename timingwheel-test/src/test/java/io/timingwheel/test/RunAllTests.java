package io.timingwheel.test;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

import io.timingwheel.spring.task.DelayedTaskOperations;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

@ExtendWith(VirtualTimeExtension.class)
class RunAllTests {

	@Test
	void anEndlessChainEndsWithAMessage(VirtualTime time, DelayedTaskOperations tasks) {
		again(tasks, new AtomicInteger());
		assertThatIllegalStateException().isThrownBy(time::runAll)
			.withMessageContaining("The tasks do not come to an end")
			.withMessageContaining("runAll has run 20000 of them")
			.withMessageContaining("pending is again (due in 1s)")
			.withMessageContaining("use advance");
	}

	@Test
	void theMessageAtTheLimitBringsTheFailuresOfBodies(VirtualTime time, DelayedTaskOperations tasks) {
		IllegalStateException inABody = new IllegalStateException("in a body");
		tasks.schedule(Duration.ofSeconds(1), () -> {
			throw inABody;
		});
		again(tasks, new AtomicInteger());
		assertThatIllegalStateException().isThrownBy(time::runAll)
			.withMessageContaining("do not come to an end")
			.satisfies((ex) -> assertThat(ex.getSuppressed()).containsExactly(inABody));
	}

	private static void again(DelayedTaskOperations tasks, AtomicInteger runs) {
		tasks.task(() -> {
			runs.incrementAndGet();
			again(tasks, runs);
		}).name("again").after(Duration.ofSeconds(1));
	}

	@Test
	void aLongChainThatEndsRuns(VirtualTime time, DelayedTaskOperations tasks) {
		AtomicInteger runs = new AtomicInteger();
		new Object() {
			void next() {
				if (runs.incrementAndGet() < 10_000) {
					tasks.task(this::next).name("next").after(Duration.ofDays(1));
				}
			}
		}.next();
		time.runAll();
		assertThat(runs).hasValue(10_000);
		assertThat(time).hasNothingPending();
	}

}

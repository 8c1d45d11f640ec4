package io.timingwheel.test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.timingwheel.TimingWheel;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.MethodTimeoutException;
import io.timingwheel.spring.annotation.Timeout;
import io.timingwheel.spring.task.DelayedTaskOperations;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.scheduling.TaskScheduler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Bodies have the thread of the test, but not its interrupts, and it does not get theirs.
 */
@SpringBootTest(properties = { "timingwheel.store.type=jdbc", "spring.datasource.url=jdbc:h2:mem:interrupts",
		"timingwheel.task-scheduler.enabled=true" })
@AutoConfigureVirtualTime
class InterruptTests {

	private static final Duration MINUTE = Duration.ofMinutes(1);

	@Autowired
	private VirtualTime time;

	@Autowired
	private DelayedTaskOperations tasks;

	@Autowired
	private TimingWheel wheel;

	@Autowired
	private TaskScheduler scheduler;

	@Autowired
	private Bodies bodies;

	@BeforeEach
	void clear() {
		this.bodies.seen().clear();
	}

	@AfterEach
	void leaveNoInterrupt() {
		Thread.interrupted();
	}

	@Test
	void aBodyThatInterruptsItsThreadDisturbsNoOther() {
		this.tasks.schedule(Duration.ofSeconds(1), this.bodies::interrupt);
		this.tasks.schedule(Duration.ofSeconds(2), this.bodies::look);
		this.bodies.interruptDurably();
		this.bodies.lookDurably();
		this.wheel.schedule(this.bodies::interrupt, Duration.ofSeconds(5));
		this.wheel.schedule(this.bodies::look, Duration.ofSeconds(6));
		this.scheduler.schedule(this.bodies::interrupt, this.time.now().plusSeconds(7));
		this.scheduler.schedule(this.bodies::look, this.time.now().plusSeconds(8));
		this.time.advance(MINUTE);
		assertThat(Thread.interrupted()).as("the test is interrupted").isFalse();
		assertThat(this.bodies.seen()).containsExactly(false, false, false, false);
	}

	@Test
	void aTimeoutThatPassesDoesNotInterruptTheBodiesThatFollow() {
		this.tasks.schedule(Duration.ofSeconds(2), this.bodies::look);
		this.bodies.lookDurably();
		assertThatExceptionOfType(MethodTimeoutException.class)
			.isThrownBy(() -> this.bodies.limited(() -> this.time.advance(MINUTE)));
		assertThat(Thread.interrupted()).as("the test is interrupted").isFalse();
		assertThat(this.bodies.seen()).containsExactly(false, false);
	}

	@Test
	void anInterruptOfTheTestReachesNoBodyAndStays() {
		this.tasks.schedule(Duration.ofSeconds(2), this.bodies::look);
		this.bodies.lookDurably();
		Thread.currentThread().interrupt();
		this.time.advance(MINUTE);
		assertThat(Thread.interrupted()).as("the test is interrupted").isTrue();
		assertThat(this.bodies.seen()).containsExactly(false, false);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(Bodies.class)
	static class Config {

	}

	static class Bodies {

		private final List<Boolean> seen = new ArrayList<>();

		List<Boolean> seen() {
			return this.seen;
		}

		void interrupt() {
			Thread.currentThread().interrupt();
		}

		void look() {
			this.seen.add(Thread.currentThread().isInterrupted());
		}

		@Delayed(delay = "3s", name = "interrupt", durable = true)
		public void interruptDurably() {
			interrupt();
		}

		@Delayed(delay = "4s", name = "look", durable = true)
		public void lookDurably() {
			look();
		}

		@Timeout("1s")
		public void limited(Runnable work) {
			work.run();
		}

	}

}

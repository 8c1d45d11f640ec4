package io.timingwheel.test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.Recurring;
import io.timingwheel.spring.durable.DurableTaskAdmin;
import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.TaskId;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What cannot run does not keep {@code runAll} going, even beside a schedule.
 */
@SpringBootTest(properties = { "timingwheel.store.type=jdbc", "spring.datasource.url=jdbc:h2:mem:runall",
		"timingwheel.tasks.stopped.paused=true" })
@AutoConfigureVirtualTime
class RunAllDurableTests {

	@Autowired
	private VirtualTime time;

	@Autowired
	private DelayedTaskOperations tasks;

	@Autowired
	private DurableTaskAdmin admin;

	@Autowired
	private Bodies bodies;

	@BeforeEach
	void clear() {
		this.bodies.ran().clear();
	}

	@Test
	void tasksOfAPausedName() {
		this.bodies.stopped();
		this.bodies.run();
		this.time.runAll();
		assertThat(this.bodies.ran()).contains("run", "beat").doesNotContain("stopped");
		assertThat(this.time).hasPendingCount("stopped", 1);
	}

	@Test
	void tasksOfANameThatIsPausedInTheStore() {
		this.admin.setPaused("run", true);
		this.bodies.run();
		this.time.runAll();
		assertThat(this.time).hasPendingCount("run", 1);
		this.admin.setPaused("run", false);
		this.time.runAll();
		assertThat(this.bodies.ran()).contains("run");
	}

	@Test
	void tasksThatThisApplicationHasNoMethodFor() {
		this.tasks.enqueue(TaskId.of("elsewhere", 1), Duration.ofHours(3));
		this.bodies.run();
		this.time.runAll();
		assertThat(this.bodies.ran()).contains("run");
		assertThat(this.time).hasPending("elsewhere", 1);
	}

	@Test
	void tasksOfANodeThatIsPaused() {
		this.bodies.run();
		this.admin.pause();
		this.time.runAll();
		assertThat(this.bodies.ran()).doesNotContain("run");
		assertThat(this.time).hasPendingCount("run", 1);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(Bodies.class)
	static class Config {

	}

	static class Bodies {

		private final List<String> ran = new ArrayList<>();

		List<String> ran() {
			return this.ran;
		}

		@Delayed(delay = "150m", name = "run", durable = true)
		public void run() {
			this.ran.add("run");
		}

		@Delayed(delay = "1h", name = "stopped", durable = true)
		public void stopped() {
			this.ran.add("stopped");
		}

		@Recurring(every = "1h", name = "beat", durable = true)
		public void beat() {
			this.ran.add("beat");
		}

		@Recurring(every = "1h", name = "beat-in-memory")
		public void beatInMemory() {
			this.ran.add("beat");
		}

	}

}

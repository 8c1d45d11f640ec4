package io.timingwheel.test;

import java.time.Duration;

import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.Recurring;
import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.TaskId;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.context.annotation.Bean;

import static org.assertj.core.api.Assertions.assertThat;

@SpringBootTest(properties = { "spring.main.lazy-initialization=true", "timingwheel.store.type=jdbc" })
@AutoConfigureVirtualTime
class LazyInitializationTests {

	@Autowired
	private VirtualTime time;

	@Test
	void beansThatAreCreatedLateHaveVirtualTimeToo(@Autowired Jobs.InMemory inMemory, @Autowired Jobs.Stored stored,
			@Autowired Runs runs, @Autowired DelayedTaskOperations tasks) {
		inMemory.run("memory", Duration.ofMinutes(5));
		stored.run("stored", Duration.ofMinutes(5));
		assertThat(this.time).hasPending("run").dueIn(Duration.ofMinutes(5));
		assertThat(this.time).hasPending("stored-run").dueIn(Duration.ofMinutes(5));
		tasks.enqueue(TaskId.of("send", 1), Duration.ofMinutes(5), 1L);
		this.time.advance(Duration.ofMinutes(10));
		assertThat(runs.names()).containsExactlyInAnyOrder("memory", "stored", "mail 1", "newsletter");
	}

	@TestConfiguration
	static class Config {

		@Bean
		Mails mails(Runs runs) {
			return new Mails(runs);
		}

	}

	static class Mails implements Runnable {

		private final Runs runs;

		Mails(Runs runs) {
			this.runs = runs;
		}

		@Override
		@Recurring(every = "1h", initialDelay = "10m", name = "newsletter", durable = true)
		public void run() {
			this.runs.run("newsletter");
		}

		@Delayed(delay = "5m", name = "send", key = "#id", durable = true)
		public void send(long id) {
			this.runs.run("mail " + id);
		}

	}

}

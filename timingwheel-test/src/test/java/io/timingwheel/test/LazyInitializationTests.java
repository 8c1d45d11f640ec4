package io.timingwheel.test;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.Recurring;
import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.TaskId;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

import static org.assertj.core.api.Assertions.assertThat;

@SpringBootTest(properties = { "spring.main.lazy-initialization=true", "timingwheel.store.type=jdbc",
		"spring.datasource.url=jdbc:h2:mem:lazy" })
@AutoConfigureVirtualTime
class LazyInitializationTests {

	@Autowired
	private VirtualTime time;

	@Autowired
	private Jobs.InMemory inMemory;

	@Autowired
	private Jobs.Stored stored;

	@Autowired
	private Runs runs;

	@Autowired
	private DelayedTaskOperations tasks;

	@Test
	void beansThatAreCreatedLateHaveVirtualTimeToo() {
		this.inMemory.run("memory", Duration.ofMinutes(5));
		this.stored.run("stored", Duration.ofMinutes(5));
		assertThat(this.time).hasPending("run").dueIn(Duration.ofMinutes(5));
		assertThat(this.time).hasPending("stored-run").isDurable().dueIn(Duration.ofMinutes(5));
		this.tasks.enqueue(TaskId.of("send", 1), Duration.ofMinutes(5), 1L);
		this.time.advance(Duration.ofMinutes(10));
		assertThat(this.runs.names()).containsExactly("memory", "stored");
		assertThat(Mails.sent).containsExactlyInAnyOrder("newsletter", "mail 1");
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import({ Runs.class, Jobs.InMemory.class, Jobs.Stored.class })
	static class Config {

		@Bean
		Runnable mails() {
			return new Mails();
		}

	}

	static class Mails implements Runnable {

		private static final List<String> sent = new CopyOnWriteArrayList<>();

		@Override
		@Recurring(every = "1h", initialDelay = "10m", name = "newsletter", durable = true)
		public void run() {
			sent.add("newsletter");
		}

		@Delayed(delay = "5m", name = "send", key = "#id", durable = true)
		public void send(long id) {
			sent.add("mail " + id);
		}

	}

}

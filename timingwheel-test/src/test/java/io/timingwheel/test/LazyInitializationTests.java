package io.timingwheel.test;

import java.time.Duration;
import java.util.ArrayList;
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
	private Notes notes;

	@Autowired
	private DelayedTaskOperations tasks;

	@Test
	void beansThatAreCreatedLateHaveVirtualTimeToo() {
		this.notes.write("memory");
		this.notes.writeDurably("durable");
		assertThat(this.time).hasPending("note").dueIn(Duration.ofMinutes(5));
		assertThat(this.time).hasPending("durable-note").isDurable().dueIn(Duration.ofMinutes(5));
		this.tasks.enqueue(TaskId.of("send", 1), Duration.ofMinutes(5), 1L);
		this.time.advance(Duration.ofMinutes(10));
		assertThat(this.notes.texts()).containsExactly("memory", "durable", "recurring");
		assertThat(Mails.sent).containsExactlyInAnyOrder("newsletter", "mail 1");
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(Notes.class)
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

	static class Notes {

		private final List<String> texts = new ArrayList<>();

		List<String> texts() {
			return this.texts;
		}

		@Delayed(delay = "5m", name = "note")
		public void write(String text) {
			this.texts.add(text);
		}

		@Delayed(delay = "5m", name = "durable-note", durable = true)
		public void writeDurably(String text) {
			this.texts.add(text);
		}

		@Recurring(every = "1h", initialDelay = "10m", name = "recurring", durable = true)
		public void recurring() {
			this.texts.add("recurring");
		}

	}

}

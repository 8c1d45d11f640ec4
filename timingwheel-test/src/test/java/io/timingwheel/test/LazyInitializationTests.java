package io.timingwheel.test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.Recurring;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
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

	@Test
	void beansThatAreCreatedLateHaveVirtualTimeToo() {
		this.notes.write("memory");
		this.notes.writeDurably("durable");
		assertThat(this.time).hasPending("note").dueIn(Duration.ofMinutes(5));
		assertThat(this.time).hasPending("durable-note").isDurable().dueIn(Duration.ofMinutes(5));
		this.time.advance(Duration.ofMinutes(10));
		assertThat(this.notes.texts()).containsExactly("memory", "durable", "recurring");
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(Notes.class)
	static class Config {

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

package io.timingwheel.test;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.task.DelayedTaskOperations;
import org.junit.jupiter.api.RepeatedTest;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.test.annotation.DirtiesContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

/**
 * Contexts that follow one another and have the same database.
 */
@SpringBootTest(
		properties = { "timingwheel.store.type=jdbc", "spring.datasource.url=jdbc:h2:mem:dirties;DB_CLOSE_DELAY=-1" })
@AutoConfigureVirtualTime
class DirtiesContextTests {

	private static @Nullable VirtualTime latest;

	private static @Nullable VirtualTime closed;

	@Autowired
	private VirtualTime time;

	@Autowired
	private Notes notes;

	@Autowired
	private DelayedTaskOperations tasks;

	@RepeatedTest(2)
	@DirtiesContext
	void theContextIsClosedAfterTheMethod() {
		assertThat(this.time).isNotSameAs(closed);
		closed = this.time;
		begin();
	}

	@RepeatedTest(2)
	@DirtiesContext(methodMode = DirtiesContext.MethodMode.BEFORE_METHOD)
	void theContextIsClosedBeforeTheMethod() {
		assertThat(this.time).isNotSameAs(latest);
		begin();
	}

	private void begin() {
		assertThat(this.time).hasNothingPending();
		latest = this.time;
		assertThat(this.time.now()).isCloseTo(Instant.now(), within(Duration.ofMinutes(10)));
		this.notes.texts().clear();
		this.notes.write("first");
		this.tasks.task(() -> this.notes.texts().add("memory")).name("left-over").after(Duration.ofHours(1));
		this.time.advance(Duration.ofHours(1));
		assertThat(this.notes.texts()).containsExactly("memory", "first");
		this.notes.write("left over");
		this.tasks.task(() -> {
		}).name("left-over").after(Duration.ofHours(1));
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

		@Delayed(delay = "1h", name = "note", durable = true)
		public void write(String text) {
			this.texts.add(text);
		}

	}

}

package io.timingwheel.compat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.MethodTimeoutException;
import io.timingwheel.spring.annotation.Recurring;
import io.timingwheel.spring.annotation.Timeout;
import io.timingwheel.test.AutoConfigureVirtualTime;
import io.timingwheel.test.VirtualTime;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** An application without a web server, with one annotation of each kind. */
@SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.NONE,
		properties = { "spring.config.name=small", "timingwheel.store.type=jdbc" })
@AutoConfigureVirtualTime
class SmallApplicationTests {

	@Autowired
	private VirtualTime time;

	@Autowired
	private Reminders reminders;

	@Test
	void bootHasTheVersionThatIsTried() {
		assertThat(SpringBootVersion.getVersion()).isEqualTo(System.getProperty("spring-boot.version"));
	}

	@Test
	void tasksInMemoryAndStoredOnesRunWhenTheyAreDue() {
		this.reminders.remind("in memory");
		this.reminders.remindDurably("stored");
		assertThat(this.time).hasPending("durable-reminder").dueIn(Duration.ofMinutes(2));
		this.time.advance(Duration.ofMinutes(1));
		assertThat(this.reminders.texts()).containsExactly("hourly", "in memory");
		this.time.advance(Duration.ofMinutes(1));
		assertThat(this.reminders.texts()).containsExactly("hourly", "in memory", "stored");
		this.time.advance(Duration.ofHours(1));
		assertThat(this.reminders.texts()).endsWith("stored", "hourly");
	}

	@Test
	void aFutureThatIsNotCompleteInTimeFails() {
		CompletableFuture<String> answer = this.reminders.never();
		this.time.advance(Duration.ofSeconds(1));
		assertThatExceptionOfType(Exception.class).isThrownBy(answer::join)
			.withCauseInstanceOf(MethodTimeoutException.class);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(Reminders.class)
	static class SmallApplication {

	}

	static class Reminders {

		private final List<String> texts = new ArrayList<>();

		public List<String> texts() {
			return this.texts;
		}

		@Delayed(delay = "1m", name = "reminder")
		public void remind(String text) {
			this.texts.add(text);
		}

		@Delayed(delay = "2m", name = "durable-reminder", durable = true)
		public void remindDurably(String text) {
			this.texts.add(text);
		}

		@Recurring(every = "1h")
		public void hourly() {
			this.texts.add("hourly");
		}

		@Timeout("1s")
		public CompletableFuture<String> never() {
			return new CompletableFuture<>();
		}

	}

}

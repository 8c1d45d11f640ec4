package io.timingwheel.test;

import java.time.Duration;

import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.Recurring;
import io.timingwheel.spring.task.DelayedTaskOperations;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.test.annotation.DirtiesContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

@SpringBootTest(classes = TaskNameTests.Reminders.class, properties = "timingwheel.store.type=jdbc")
@AutoConfigureVirtualTime
class TaskNameTests {

	private static final IllegalStateException DOWN = new IllegalStateException("down");

	@Autowired
	private VirtualTime time;

	@Autowired
	private Reminders reminders;

	@Test
	void aNameThatNoTaskHasIsRefusedWithTheKnownNames() {
		assertThatIllegalArgumentException().isThrownBy(() -> this.time.failNext("remnd", DOWN))
			.withMessageContaining("failNext: no task has the name \"remnd\"")
			.withMessageContaining("The names are [close-order, nightly-report, remember, remind]");
		assertThatIllegalArgumentException().isThrownBy(() -> this.time.crashBeforeAcknowledge("remnd"))
			.withMessageContaining("crashBeforeAcknowledge: no method with durable = true has the name \"remnd\"")
			.withMessageContaining("The names are [remember, remind]");
	}

	@Test
	void namesOfMethodsAreKnownFromTheStart() {
		this.time.failNext("close-order", DOWN);
		this.reminders.close();
		assertThatIllegalStateException().isThrownBy(() -> this.time.advance(Duration.ofHours(1))).isSameAs(DOWN);
		this.time.failNext("nightly-report", DOWN);
		assertThatIllegalStateException().isThrownBy(() -> this.time.advance(Duration.ofDays(1))).isSameAs(DOWN);
	}

	@Test
	void anEarlierNameOfAMethodStandsForItsName() {
		this.time.failNext("remember", DOWN);
		this.reminders.remind("ada");
		assertThatIllegalStateException().isThrownBy(() -> this.time.advance(Duration.ofHours(1))).isSameAs(DOWN);
		this.time.crashBeforeAcknowledge("remember");
		this.time.advance(Duration.ofSeconds(1));
		assertThat(this.time.tasks("remind")).isEmpty();
		this.time.advance(Duration.ofSeconds(30));
		assertThat(this.reminders.count()).as("the second attempt, and again after the crash").isEqualTo(2);
	}

	@Test
	@DirtiesContext
	void aNameThatCodeGivesIsKnownWithItsFirstTask(@Autowired DelayedTaskOperations tasks) {
		assertThatIllegalArgumentException().isThrownBy(() -> this.time.failNext("beat", DOWN))
			.withMessageContaining("no task has the name \"beat\"");
		tasks.task(() -> {
		}).name("beat").after(Duration.ofMinutes(1));
		this.time.failNext("beat", DOWN);
		assertThatIllegalStateException().isThrownBy(() -> this.time.advance(Duration.ofMinutes(1))).isSameAs(DOWN);
	}

	@EnableAutoConfiguration
	static class Reminders {

		private int count;

		int count() {
			return this.count;
		}

		@Delayed(delay = "1h", name = "remind", aliases = "remember", key = "#user", durable = true)
		public void remind(String user) {
			this.count++;
		}

		@Delayed(delay = "1h", name = "close-order")
		public void close() {
		}

		@Recurring(every = "1d", initialDelay = "1d", name = "nightly-report")
		public void report() {
		}

	}

}

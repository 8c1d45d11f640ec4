package io.timingwheel.test;

import java.time.Duration;
import java.time.Instant;

import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.TaskId;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@SpringBootTest
@AutoConfigureVirtualTime
class AssertionTests {

	@Autowired
	private VirtualTime time;

	@Autowired
	private DelayedTaskOperations tasks;

	private static final Duration HOUR = Duration.ofHours(1);

	@Test
	void aMessageNamesTheTasksOfTheNameFirst() {
		for (int i = 0; i < 20; i++) {
			add("other", i, Duration.ofMinutes(1 + i));
		}
		add("close-order", 41, HOUR);
		assertThatExceptionOfType(AssertionError.class)
			.isThrownBy(() -> assertThat(this.time).hasPending("close-order", 42))
			.withMessageStartingWith(
					"expected a pending close-order 42; pending are close-order 41 (due in 1h), other 0"
							+ " (due in 1m), other 1 (due in 2m)")
			.withMessageEndingWith("and 11 more");
		assertThatExceptionOfType(AssertionError.class)
			.isThrownBy(() -> assertThat(this.time).hasPendingCount("close-order", 2))
			.withMessageStartingWith("expected 2 pending close-order, but there are 1; pending are close-order 41");
		assertThatExceptionOfType(AssertionError.class)
			.isThrownBy(() -> assertThat(this.time).hasPending("close-order", 41).dueIn(Duration.ofMinutes(30)))
			.withMessageStartingWith("expected close-order 41 to be due in 30m, but it is due in 1h; pending are"
					+ " close-order 41 (due in 1h), other 0");
	}

	@Test
	void theAssertionsTellWhatIsPending() {
		add("plain", 41, Duration.ofMinutes(29));
		add("plain", 43, Duration.ofMinutes(30));
		assertThatExceptionOfType(AssertionError.class).isThrownBy(() -> assertThat(this.time).hasPending("plain", 42))
			.withMessage("expected a pending plain 42; pending are plain 41 (due in 29m), plain 43 (due in 30m)");
		assertThatExceptionOfType(AssertionError.class).isThrownBy(() -> assertThat(this.time).hasNothingPending())
			.withMessageContaining("expected no pending task; pending are plain 41");
		assertThatExceptionOfType(AssertionError.class).isThrownBy(() -> assertThat(this.time).hasPending("absent"))
			.withMessageContaining("expected a pending absent");
		assertThat(this.time).hasPending("plain", 43).isInMemory().dueAt(this.time.now().plus(Duration.ofMinutes(30)));
		assertThat(this.time.tasks("plain")).extracting(PendingTask::key).containsExactly("41", "43");
		assertThat(this.time.pending("plain")).isEqualTo(2);
	}

	@Test
	void aDescriptionIsInTheMessagesOfBothSteps() {
		add("close-order", 41, HOUR);
		assertThatExceptionOfType(AssertionError.class)
			.isThrownBy(() -> assertThat(this.time).as("after %s", "noon").hasPending("close-order", 42))
			.withMessageStartingWith("[after noon] expected a pending");
		assertThatExceptionOfType(AssertionError.class)
			.isThrownBy(() -> assertThat(this.time).as("after %s", "noon")
				.hasPending("close-order", 41)
				.dueIn(Duration.ofMinutes(30)))
			.withMessageStartingWith("[after noon] expected close-order 41 to be due in 30m");
	}

	@Test
	void softAssertionsCollectTheFailures() {
		add("close-order", 41, HOUR);
		SoftAssertions softly = new SoftAssertions();
		softly.check(() -> assertThat(this.time).hasPending("close-order", 42));
		softly.check(() -> assertThat(this.time).hasPending("close-order", 41).dueIn(Duration.ofMinutes(30)));
		softly.check(() -> assertThat(this.time).hasPending("close-order", 41).dueIn(HOUR));
		assertThat(softly.errorsCollected()).hasSize(2);
	}

	@Test
	void aTimeBeyondAllTimesIsNoOverflow() {
		add("close-order", 41, HOUR);
		assertThatExceptionOfType(AssertionError.class)
			.isThrownBy(
					() -> assertThat(this.time).hasPending("close-order", 41).dueIn(Duration.ofSeconds(Long.MAX_VALUE)))
			.withMessageContaining("but it is due in 1h");
		assertThatExceptionOfType(AssertionError.class)
			.isThrownBy(() -> assertThat(this.time).hasPending("close-order", 41).dueAt(Instant.MAX))
			.withMessageContaining("but it is due at ");
		assertThatExceptionOfType(AssertionError.class)
			.isThrownBy(() -> assertThat(this.time).hasPending("close-order", 41).dueIn(HOUR.negated()))
			.withMessageContaining("but it is due in 1h");
	}

	@Test
	void aPercentSignInANameIsNoFormat() {
		add("50%s", "1%d", HOUR);
		assertThatExceptionOfType(AssertionError.class).isThrownBy(() -> assertThat(this.time).hasPending("50%s", "%n"))
			.withMessage("expected a pending 50%s %n; pending is 50%s 1%d (due in 1h)");
	}

	private void add(String name, Object key, Duration delay) {
		this.tasks.schedule(TaskId.of(name, key), delay, () -> {
		});
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Config {

	}

}

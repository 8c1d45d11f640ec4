package io.timingwheel.test;

import java.time.Duration;

import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.TaskId;
import org.assertj.core.api.AbstractThrowableAssert;
import org.assertj.core.api.SoftAssertions;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullSource;

import org.springframework.beans.factory.annotation.Autowired;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@TestApplication.WithStore
class AssertionTests {

	private static final Duration HOUR = Duration.ofHours(1);

	@Autowired
	private VirtualTime time;

	@Autowired
	private DelayedTaskOperations tasks;

	@Test
	void aMessageNamesWhatIsPendingTheTasksOfTheNameFirst() {
		for (int i = 0; i < 20; i++) {
			add("other", i, Duration.ofMinutes(1 + i));
		}
		add("close-order", 41, HOUR);
		assertFails(() -> assertThat(this.time).hasPending("close-order", 42))
			.hasMessageStartingWith("expected a pending close-order 42; pending are close-order 41 (due in 1h), other 0"
					+ " (due in 1m), other 1 (due in 2m)")
			.hasMessageEndingWith("and 11 more");
		assertFails(() -> assertThat(this.time).hasPending("close-order", 41).dueIn(Duration.ofMinutes(30)))
			.hasMessageStartingWith("expected close-order 41 to be due in 30m, but it is due in 1h; pending are"
					+ " close-order 41 (due in 1h), other 0");
		assertFails(() -> assertThat(this.time).hasNothingPending())
			.hasMessageContaining("expected no pending task; pending are other 0");
		assertFails(() -> assertThat(this.time).hasPending("absent")).hasMessageContaining("expected a pending absent");
	}

	@Test
	void theTasksOfANameAreInTheOrderOfTheirDueTimes() {
		add("plain", 43, Duration.ofMinutes(30));
		add("plain", 41, Duration.ofMinutes(29));
		assertThat(this.time).hasPending("plain", 43).dueIn(Duration.ofMinutes(30));
		assertThat(this.time.tasks("plain")).extracting(PendingTask::key).containsExactly("41", "43");
		assertThat(this.time.pending("plain")).isEqualTo(2);
	}

	@Test
	void aDescriptionIsInTheMessagesOfBothStepsWhichMayBeSoft() {
		add("close-order", 41, HOUR);
		SoftAssertions softly = new SoftAssertions();
		softly.check(() -> described().hasPending("close-order", 42));
		softly.check(() -> described().hasPending("close-order", 41).dueIn(Duration.ofMinutes(30)));
		softly.check(() -> described().hasPending("close-order", 41).dueIn(HOUR));
		assertThat(softly.errorsCollected()).extracting(Throwable::getMessage)
			.satisfiesExactly((message) -> assertThat(message).startsWith("[after noon] expected a pending"),
					(message) -> assertThat(message)
						.startsWith("[after noon] expected close-order 41 to be due in 30m"));
	}

	private VirtualTimeAssert described() {
		return assertThat(this.time).as("after %s", "noon");
	}

	@Test
	void aTimeBeyondAllTimesIsNoOverflow() {
		add("close-order", 41, HOUR);
		assertFails(() -> assertThat(this.time).hasPending("close-order", 41).dueIn(Duration.ofSeconds(Long.MAX_VALUE)))
			.hasMessageContaining("but it is due in 1h");
		assertFails(() -> assertThat(this.time).hasPending("close-order", 41).dueIn(HOUR.negated()))
			.hasMessageContaining("but it is due in 1h");
	}

	@Test
	void aPercentSignInANameIsNoFormat() {
		add("50%s", "1%d", HOUR);
		assertFails(() -> assertThat(this.time).hasPending("50%s", "%n"))
			.hasMessage("expected a pending 50%s %n; pending is 50%s 1%d (due in 1h)");
	}

	@ParameterizedTest
	@NullSource
	void aKeyThatIsNullIsRefused(Object key) {
		assertThatNullPointerException().isThrownBy(() -> assertThat(this.time).hasNoPending("remind", key))
			.withMessageContaining("The key is null");
		assertThatNullPointerException().isThrownBy(() -> assertThat(this.time).hasPending("remind", key))
			.withMessageContaining("The key is null");
	}

	private static AbstractThrowableAssert<?, ? extends Throwable> assertFails(ThrowingCallable assertion) {
		return assertThatThrownBy(assertion).isInstanceOf(AssertionError.class);
	}

	private void add(String name, Object key, Duration delay) {
		this.tasks.schedule(TaskId.of(name, key), delay, () -> {
		});
	}

}

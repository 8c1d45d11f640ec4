package io.timingwheel.spring.durable.store;

import java.time.Duration;
import java.util.List;

import io.timingwheel.spring.task.IfPending;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class NewTaskTests {

	private static final DueTime NOW = DueTime.after(Duration.ZERO);

	@Test
	void aNameOrAKeyThatSomeStoreCannotKeepIsRefused() {
		String half = "half of a pair: \ud83d";
		for (String name : List.of("\u00c4".repeat(128), "zero\0", half)) {
			assertRefused(name, "k", "The name");
		}
		for (String key : List.of("x".repeat(TaskLimits.MAX_KEY_BYTES + 1), "zero\0", half)) {
			assertRefused("name", key, "The key");
		}
	}

	private static void assertRefused(String name, String key, String problem) {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> new NewTask("id", name, key, "[]", null, NOW, IfPending.REPLACE, null))
			.withMessageContaining(problem);
		assertThatIllegalArgumentException()
			.isThrownBy(() -> new NewSchedule("id", name, key, "[]", "every PT1H", NOW, false))
			.withMessageContaining(problem);
	}

	@Test
	void aScheduleWithALongTextIsRefused() {
		String text = "x".repeat(DelayedTaskStore.MAX_SCHEDULE_LENGTH + 1);
		assertThatIllegalArgumentException()
			.isThrownBy(() -> new NewSchedule("id", "name", "k", "[]", text, NOW, false))
			.withMessageContaining("The text of the schedule is too long");
	}

}

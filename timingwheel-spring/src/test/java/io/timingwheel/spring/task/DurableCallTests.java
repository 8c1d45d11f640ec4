package io.timingwheel.spring.task;

import java.time.Duration;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class DurableCallTests {

	private static final Duration MINUTE = Duration.ofMinutes(1);

	private final DurableCall call = DurableCall.of(TaskId.of("index", 1), MINUTE, 1);

	@Test
	void aCallReplacesOrUpdatesThePendingOne() {
		assertThat(this.call.ifPending()).isEqualTo(IfPending.REPLACE);
		assertThat(this.call.updating().ifPending()).isEqualTo(IfPending.UPDATE);
		assertThat(this.call.maxWait(MINUTE).maxWait()).isEqualTo(MINUTE);
		assertThat(this.call.maxWait(MINUTE).ifPending()).isEqualTo(IfPending.REPLACE);
	}

	@Test
	void aCallThatUpdatesHasNoLongestWait() {
		assertThatIllegalArgumentException().isThrownBy(() -> this.call.maxWait(MINUTE).updating())
			.withMessageContaining("a call that updates the pending one never puts it off");
		assertThatIllegalArgumentException().isThrownBy(() -> this.call.updating().maxWait(MINUTE))
			.withMessageContaining("a call that updates the pending one never puts it off");
	}

	@Test
	void aLongestWaitNeedsAKeyAndIsNotNegative() {
		assertThatIllegalArgumentException().isThrownBy(() -> DurableCall.of("index", MINUTE, 1).maxWait(MINUTE))
			.withMessageContaining("needs a key");
		assertThatIllegalArgumentException().isThrownBy(() -> this.call.maxWait(MINUTE.negated()))
			.withMessageContaining("must not be negative");
	}

}

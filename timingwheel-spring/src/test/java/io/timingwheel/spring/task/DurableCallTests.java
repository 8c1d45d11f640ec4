package io.timingwheel.spring.task;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
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
	void aLongestWaitNeedsAKeyIsNotNegativeAndGoesWithNoUpdate() {
		for (ThrowingCallable call : List.<ThrowingCallable>of(() -> this.call.maxWait(MINUTE).updating(),
				() -> this.call.updating().maxWait(MINUTE), () -> this.call.maxWait(MINUTE.negated()),
				() -> DurableCall.of("index", MINUTE, 1).maxWait(MINUTE))) {
			assertThatIllegalArgumentException().isThrownBy(call)
				.withMessage("A longest wait needs a key, must not be negative, and is for calls that replace the"
						+ " pending one: a call that updates the pending one never puts it off");
		}
	}

	@Test
	void aCallHasANameAndEitherADelayOrATime() {
		assertThatIllegalArgumentException().isThrownBy(() -> DurableCall.of(" ", MINUTE));
		assertThatIllegalArgumentException().isThrownBy(() -> DurableCall.of("index", (Duration) null));
		assertThatIllegalArgumentException().isThrownBy(() -> DurableCall.of((TaskId) null, MINUTE));
		assertThatIllegalArgumentException().isThrownBy(() -> DurableCall.of("index", MINUTE, (Object[]) null));
		assertThatIllegalArgumentException()
			.isThrownBy(() -> new DurableCall("index", null, MINUTE, Instant.EPOCH, List.of()));
	}

}

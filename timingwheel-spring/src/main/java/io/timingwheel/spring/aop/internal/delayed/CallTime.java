package io.timingwheel.spring.aop.internal.delayed;

import java.time.Duration;
import java.time.Instant;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

/**
 * When a call is due: after a delay by the clock that keeps the task, or at a time, which
 * may be in the past.
 */
public record CallTime(@Nullable Duration delay, @Nullable Instant time) {

	public Duration requiredDelay() {
		return Objects.requireNonNull(this.delay);
	}

	static CallTime after(Duration delay) {
		return new CallTime(delay, null);
	}

	static CallTime at(Instant time) {
		return new CallTime(null, time);
	}

}

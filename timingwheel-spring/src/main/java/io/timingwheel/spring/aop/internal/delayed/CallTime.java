package io.timingwheel.spring.aop.internal.delayed;

import java.time.Duration;
import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * When a call is due: after a delay by the clock that keeps the task, or at a time.
 *
 * @param delay of no meaning if there is a time
 */
public record CallTime(Duration delay, @Nullable Instant time) {

	static CallTime after(Duration delay) {
		return new CallTime(delay, null);
	}

	static CallTime at(Instant time) {
		return new CallTime(Duration.ZERO, time);
	}

}

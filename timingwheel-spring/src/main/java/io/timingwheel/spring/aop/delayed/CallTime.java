package io.timingwheel.spring.aop.delayed;

import java.time.Duration;
import java.time.Instant;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

/**
 * When a stored call is due: after a delay, or at a time.
 *
 * @param delay how long from now, by the clock of the store; {@code null} if there is a
 * time
 * @param time the time; may be in the past; {@code null} if there is a delay
 * @since 0.1
 */
public record CallTime(@Nullable Duration delay, @Nullable Instant time) {

	/**
	 * Returns the delay of a call that is due after one.
	 * @return the delay
	 */
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

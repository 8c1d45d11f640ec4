package io.timingwheel.spring.task.internal;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;

import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;

/**
 * Exponential backoff with jitter. A part that is {@code null} is not set. Immutable.
 *
 * @param multiplier how many times longer each delay is than the one before, at least 1
 * @param jitter how much a delay varies at most, as a part of the delay, from 0 to 1
 */
public record BackoffSettings(@Nullable Duration initial, @Nullable Double multiplier, @Nullable Duration max,
		@Nullable Double jitter) {

	public static final BackoffSettings NONE = new BackoffSettings(null, null, null, null);

	public BackoffSettings {
		Assert.isTrue(initial == null || !initial.isNegative(), "backoff.initial must not be negative");
		Assert.isTrue(multiplier == null || (multiplier >= 1 && Double.isFinite(multiplier)),
				"backoff.multiplier must be at least 1");
		Assert.isTrue(max == null || !max.isNegative(), "backoff.max must not be negative");
		Assert.isTrue(jitter == null || (jitter >= 0 && jitter <= 1), "backoff.jitter must be from 0 to 1");
	}

	public BackoffSettings checkOrder() {
		Assert.isTrue(this.initial == null || this.max == null || this.max.compareTo(this.initial) >= 0,
				"backoff.max must not be shorter than backoff.initial");
		return this;
	}

	/** A longest delay that only this one sets gives way to a longer first delay. */
	public BackoffSettings overriddenBy(BackoffSettings other) {
		Duration max = (other.max != null || this.max == null || other.initial == null
				|| other.initial.compareTo(this.max) <= 0) ? this.max : other.initial;
		return new BackoffSettings((other.initial != null) ? other.initial : this.initial,
				(other.multiplier != null) ? other.multiplier : this.multiplier, (other.max != null) ? other.max : max,
				(other.jitter != null) ? other.jitter : this.jitter);
	}

	public BackoffSettings withoutJitter() {
		return new BackoffSettings(this.initial, this.multiplier, this.max, 0.0);
	}

	/**
	 * The delay after a failure, in whole milliseconds, if all parts are set.
	 */
	public Duration after(int failures) {
		double exact = Objects.requireNonNull(this.initial).toMillis()
				* Math.pow(Objects.requireNonNull(this.multiplier), failures - 1.0);
		double limited = Math.min(exact, Objects.requireNonNull(this.max).toMillis());
		double spread = (ThreadLocalRandom.current().nextDouble() * 2 - 1) * Objects.requireNonNull(this.jitter);
		return Duration.ofMillis(Math.max(0, Math.round(limited * (1 + spread))));
	}

}

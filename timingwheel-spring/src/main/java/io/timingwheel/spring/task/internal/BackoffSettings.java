package io.timingwheel.spring.task.internal;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;

/**
 * The parts of a {@link Backoff} that are set; {@code null} for the default. Immutable.
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

	/** Refuses a longest delay that is shorter than the first. */
	public BackoffSettings checkOrder() {
		Assert.isTrue(this.initial == null || this.max == null || this.max.compareTo(this.initial) >= 0,
				"backoff.max must not be shorter than backoff.initial");
		return this;
	}

	BackoffSettings overriddenBy(BackoffSettings other) {
		return new BackoffSettings((other.initial != null) ? other.initial : this.initial,
				(other.multiplier != null) ? other.multiplier : this.multiplier,
				(other.max != null) ? other.max : this.max, (other.jitter != null) ? other.jitter : this.jitter);
	}

	/**
	 * Completes the settings. A default for the longest delay that is shorter than the
	 * first delay gives way to the first delay.
	 */
	public Backoff complete(Backoff defaults) {
		Duration initial = (this.initial != null) ? this.initial : defaults.initial();
		Duration max = this.max;
		if (max == null) {
			max = (defaults.max().compareTo(initial) < 0) ? initial : defaults.max();
		}
		return new Backoff(initial, (this.multiplier != null) ? this.multiplier : defaults.multiplier(), max,
				(this.jitter != null) ? this.jitter : defaults.jitter());
	}

}

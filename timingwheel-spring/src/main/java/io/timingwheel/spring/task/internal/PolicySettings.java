package io.timingwheel.spring.task.internal;

import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;

/**
 * The policy of the tasks of one name: how often they are tried, and what limits their
 * starts. A part that is {@code null} is not set. Immutable.
 */
public record PolicySettings(@Nullable Integer maxAttempts, BackoffSettings backoff, @Nullable Integer maxConcurrent,
		@Nullable Integer maxConcurrentPerKey, @Nullable StartRate rate, @Nullable Boolean paused) {

	public static final PolicySettings NONE = new PolicySettings(null, BackoffSettings.NONE, null, null, null, null);

	public PolicySettings {
		Assert.isTrue(maxAttempts == null || maxAttempts >= 1, "max-attempts must be at least 1");
		Assert.isTrue(maxConcurrent == null || maxConcurrent >= 1,
				"max-concurrent must be at least 1 (to start none, set paused)");
		Assert.isTrue(maxConcurrentPerKey == null || maxConcurrentPerKey >= 1,
				"max-concurrent-per-key must be at least 1 (to start none, set paused)");
	}

	public PolicySettings overriddenBy(PolicySettings other) {
		return new PolicySettings((other.maxAttempts != null) ? other.maxAttempts : this.maxAttempts,
				this.backoff.overriddenBy(other.backoff),
				(other.maxConcurrent != null) ? other.maxConcurrent : this.maxConcurrent,
				(other.maxConcurrentPerKey != null) ? other.maxConcurrentPerKey : this.maxConcurrentPerKey,
				(other.rate != null) ? other.rate : this.rate, (other.paused != null) ? other.paused : this.paused);
	}

	public int maxAttempts(int defaultAttempts) {
		return (this.maxAttempts != null) ? this.maxAttempts : defaultAttempts;
	}

	/** Whether the policy can hold a task back that is due. */
	public boolean limitsStarts() {
		return this.maxConcurrent != null || this.maxConcurrentPerKey != null || this.rate != null || isPaused();
	}

	public boolean isPaused() {
		return Boolean.TRUE.equals(this.paused);
	}

}

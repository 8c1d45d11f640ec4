package io.timingwheel.spring.autoconfigure;

import java.time.Duration;

import io.timingwheel.spring.autoconfigure.internal.PropertyChecks;
import io.timingwheel.spring.task.internal.PolicySettings;
import io.timingwheel.spring.task.internal.PolicySettings.BackoffSettings;
import io.timingwheel.spring.task.internal.PolicySettings.StartRate;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The properties {@code timingwheel.tasks.<name>.*}: the policy of the tasks of one name.
 * Each overrides the value of the annotation.
 *
 * @param maxAttempts Number of attempts after which a task has failed. By default one in
 * memory, and that of the store for durable tasks.
 * @param backoff how long a failed task waits for the next attempt
 * @param maxConcurrent Maximum number of bodies that run at once: in memory in this JVM,
 * durable on all nodes together. No limit by default.
 * @param maxConcurrentPerKey Maximum number of bodies of one key that run at once. With
 * 1, the runs of a key follow one another. No limit by default.
 * @param rate Maximum number of starts in a period, spread evenly, such as 100/s, 20/m,
 * 5000/h or 10000/d. No limit by default.
 * @param paused Whether no body starts. The endpoint changes this at run time.
 * @since 0.1
 */
public record TimingWheelTaskProperties(@Nullable Integer maxAttempts, @DefaultValue Backoff backoff,
		@Nullable Integer maxConcurrent, @Nullable Integer maxConcurrentPerKey, @Nullable String rate,
		@Nullable Boolean paused) {

	/** Checks the values one by one, so that the message names the property. */
	PolicySettings settings(String prefix) {
		BackoffSettings none = BackoffSettings.NONE;
		PropertyChecks.pass(prefix + "max-attempts", this.maxAttempts,
				(value) -> new PolicySettings(value, none, null, null, null, null));
		PropertyChecks.pass(prefix + "max-concurrent", this.maxConcurrent,
				(value) -> new PolicySettings(null, none, value, null, null, null));
		PropertyChecks.pass(prefix + "max-concurrent-per-key", this.maxConcurrentPerKey,
				(value) -> new PolicySettings(null, none, null, value, null, null));
		PropertyChecks.pass(prefix + "rate", this.rate, StartRate::parse);
		BackoffSettings backoff = PropertyChecks.backoff(prefix + "backoff", this.backoff.initial,
				this.backoff.multiplier, this.backoff.max, this.backoff.jitter);
		return new PolicySettings(this.maxAttempts, backoff, this.maxConcurrent, this.maxConcurrentPerKey,
				(this.rate != null) ? StartRate.parse(this.rate) : null, this.paused);
	}

	/**
	 * How long a failed task waits for the next attempt. What is not set comes from the
	 * annotation, then from the store. In memory the defaults are the same as those of
	 * the store.
	 *
	 * @param initial Delay after the first failure.
	 * @param multiplier Factor from one delay to the next.
	 * @param max The longest delay.
	 * @param jitter Maximum random variation of a delay, as a part of the delay, from 0
	 * to 1.
	 */
	public record Backoff(@Nullable Duration initial, @Nullable Double multiplier, @Nullable Duration max,
			@Nullable Double jitter) {

	}

}

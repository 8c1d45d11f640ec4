package io.timingwheel.spring.autoconfigure;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * The properties {@code timingwheel.tasks.<name>.*}: the policy of the tasks of one name.
 * Each overrides the value of the annotation.
 *
 * @since 0.1
 */
public class TimingWheelTaskProperties {

	/**
	 * Number of attempts after which a task has failed. By default one in memory, and
	 * that of the store for durable tasks.
	 */
	private @Nullable Integer maxAttempts;

	private final Backoff backoff = new Backoff();

	/**
	 * Maximum number of bodies that run at once: in memory in this JVM, durable on all
	 * nodes together. No limit by default.
	 */
	private @Nullable Integer maxConcurrent;

	/**
	 * Maximum number of bodies of one key that run at once. With 1, the runs of a key
	 * follow one another. No limit by default.
	 */
	private @Nullable Integer maxConcurrentPerKey;

	/**
	 * Maximum number of starts in a period, spread evenly, such as 100/s, 20/m, 5000/h or
	 * 10000/d. No limit by default.
	 */
	private @Nullable String rate;

	/**
	 * Whether no body starts. The endpoint changes this at run time.
	 */
	private @Nullable Boolean paused;

	public @Nullable Integer getMaxAttempts() {
		return this.maxAttempts;
	}

	public void setMaxAttempts(@Nullable Integer maxAttempts) {
		this.maxAttempts = maxAttempts;
	}

	public Backoff getBackoff() {
		return this.backoff;
	}

	public @Nullable Integer getMaxConcurrent() {
		return this.maxConcurrent;
	}

	public void setMaxConcurrent(@Nullable Integer maxConcurrent) {
		this.maxConcurrent = maxConcurrent;
	}

	public @Nullable Integer getMaxConcurrentPerKey() {
		return this.maxConcurrentPerKey;
	}

	public void setMaxConcurrentPerKey(@Nullable Integer maxConcurrentPerKey) {
		this.maxConcurrentPerKey = maxConcurrentPerKey;
	}

	public @Nullable String getRate() {
		return this.rate;
	}

	public void setRate(@Nullable String rate) {
		this.rate = rate;
	}

	public @Nullable Boolean getPaused() {
		return this.paused;
	}

	public void setPaused(@Nullable Boolean paused) {
		this.paused = paused;
	}

	/**
	 * How long a failed task waits for the next attempt. What is not set comes from the
	 * annotation, then from the store. In memory the defaults are the same as those of
	 * the store.
	 */
	public static class Backoff {

		/**
		 * Delay after the first failure.
		 */
		private @Nullable Duration initial;

		/**
		 * Factor from one delay to the next.
		 */
		private @Nullable Double multiplier;

		/**
		 * The longest delay.
		 */
		private @Nullable Duration max;

		/**
		 * Maximum random variation of a delay, as a part of the delay, from 0 to 1.
		 */
		private @Nullable Double jitter;

		public @Nullable Duration getInitial() {
			return this.initial;
		}

		public void setInitial(@Nullable Duration initial) {
			this.initial = initial;
		}

		public @Nullable Double getMultiplier() {
			return this.multiplier;
		}

		public void setMultiplier(@Nullable Double multiplier) {
			this.multiplier = multiplier;
		}

		public @Nullable Duration getMax() {
			return this.max;
		}

		public void setMax(@Nullable Duration max) {
			this.max = max;
		}

		public @Nullable Double getJitter() {
			return this.jitter;
		}

		public void setJitter(@Nullable Double jitter) {
			this.jitter = jitter;
		}

	}

}

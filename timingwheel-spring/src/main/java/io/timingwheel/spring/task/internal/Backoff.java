package io.timingwheel.spring.task.internal;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Exponential backoff with jitter. Immutable.
 *
 * @param initial the delay after the first failure
 * @param multiplier how many times longer each delay is than the one before, at least 1
 * @param max the longest delay
 * @param jitter how much a delay varies at most, as a part of the delay, from 0 to 1
 */
public record Backoff(Duration initial, double multiplier, Duration max, double jitter) {

	/**
	 * The delay after a failure, in whole milliseconds.
	 */
	public Duration after(int failures) {
		double exact = this.initial.toMillis() * Math.pow(this.multiplier, failures - 1.0);
		double limited = Math.min(exact, this.max.toMillis());
		double spread = (ThreadLocalRandom.current().nextDouble() * 2 - 1) * this.jitter;
		return Duration.ofMillis(Math.max(0, Math.round(limited * (1 + spread))));
	}

}

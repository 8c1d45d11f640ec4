package io.timingwheel.spring.annotation;

import java.lang.annotation.Documented;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * How long a task that has failed waits for its next attempt: an exponential backoff with
 * jitter. The properties {@code timingwheel.tasks.<name>.backoff.*} override each value.
 *
 * <p>
 * The defaults for a durable task are {@code timingwheel.store.backoff.*}. The defaults
 * for a task in memory are an initial delay of {@code 1s}, a multiplier of 2, a longest
 * delay of {@code 10m} and a jitter of 0.2.
 *
 * @since 0.1
 * @see TaskPolicy#backoff
 */
@Target({})
@Retention(RetentionPolicy.RUNTIME)
@Documented
public @interface Backoff {

	/**
	 * The delay after the first failure: a duration, as in {@link Delayed#delay}. Must
	 * not be negative.
	 * @return the duration, empty for the default
	 */
	String initial() default "";

	/**
	 * How many times longer each delay is than the one before. Must be at least 1.
	 * @return the factor, 0 for the default
	 */
	double multiplier() default 0;

	/**
	 * The longest delay before the jitter: a duration, as in {@link Delayed#delay}. Must
	 * not be shorter than {@link #initial}.
	 * @return the duration, empty for the default
	 */
	String max() default "";

	/**
	 * By how much a delay may be longer or shorter, at random: a fraction of the delay,
	 * from 0 to 1. With 0.2, a delay of 10 s becomes 8 s to 12 s.
	 * @return the fraction, a negative number for the default
	 */
	double jitter() default -1;

}

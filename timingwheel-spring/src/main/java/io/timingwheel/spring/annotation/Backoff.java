package io.timingwheel.spring.annotation;

import java.lang.annotation.Documented;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * How long a task that has failed waits for its next attempt: an exponential backoff with
 * jitter. What is not set comes from {@code timingwheel.store.backoff.*} for a durable
 * task. For a task in memory it is {@code 1s}, {@code 2}, {@code 10m} and {@code 0.2}.
 *
 * @since 0.1
 * @see TaskPolicy#backoff
 */
@Target({})
@Retention(RetentionPolicy.RUNTIME)
@Documented
public @interface Backoff {

	/**
	 * The delay after the first failure: a duration, as in {@link Delayed#delay}.
	 * @return the duration
	 */
	String initial() default "";

	/**
	 * How many times longer each delay is than the one before, at least 1. With 0, the
	 * default holds.
	 * @return the factor
	 */
	double multiplier() default 0;

	/**
	 * The longest delay: a duration, as in {@link Delayed#delay}.
	 * @return the duration
	 */
	String max() default "";

	/**
	 * How much a delay varies at most, as a part of the delay, from 0 to 1. With a
	 * negative number, the default holds.
	 * @return the part
	 */
	double jitter() default -1;

}

package io.timingwheel.spring.annotation;

import java.lang.annotation.Documented;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * How often the tasks of a name are tried, how many of them run at once, and how many
 * start in a period.
 *
 * <pre class="code">
 * &#64;Delayed(delay = "5s", name = "callback", key = "#id", durable = true,
 *         policy = &#64;TaskPolicy(maxAttempts = 8, backoff = &#64;Backoff(initial = "2s"),
 *                 maxConcurrent = 20, rate = "${callbacks.rate:100/s}"))
 * public void send(long id) { ... }
 * </pre>
 *
 * <p>
 * The properties {@code timingwheel.tasks.<name>.*} override each of these values. In
 * memory the limits hold for the JVM, with a store for all of its nodes together. A task
 * that has to wait for a limit stays pending: it can be cancelled, replaced, moved and
 * found. The tasks of a name start in the order in which they are due.
 *
 * @since 0.1
 * @see Delayed#policy
 */
@Target({})
@Retention(RetentionPolicy.RUNTIME)
@Documented
public @interface TaskPolicy {

	/**
	 * How often a task is tried. After this many failures it has failed. With 0, the
	 * default holds: one attempt in memory, {@code timingwheel.store.max-attempts} for a
	 * durable task.
	 * @return the number of attempts
	 */
	int maxAttempts() default 0;

	/**
	 * How long a task that has failed waits for its next attempt.
	 * @return the backoff
	 */
	Backoff backoff() default @Backoff;

	/**
	 * How many bodies of the name run at once. With 0, there is no limit.
	 * @return the number of bodies
	 */
	int maxConcurrent() default 0;

	/**
	 * How many bodies of one key run at once. With 1, the runs of a key follow one
	 * another. With 0, there is no limit. Needs a {@link Delayed#key key}.
	 * @return the number of bodies
	 */
	int maxConcurrentPerKey() default 0;

	/**
	 * How many bodies of the name start in a second, a minute, an hour or a day:
	 * {@code 100/s}, {@code 20/m}, {@code 5000/h}, {@code 10000/d}. The starts are spread
	 * evenly: a burst is no larger than what is allowed in a tenth of a second, and at
	 * least one. May hold <code>${placeholders}</code> and
	 * <code>#{bean expressions}</code>. Empty for no limit.
	 * @return the rate
	 */
	String rate() default "";

}

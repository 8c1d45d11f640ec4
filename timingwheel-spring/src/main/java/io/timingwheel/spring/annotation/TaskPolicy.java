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
 * The properties {@code timingwheel.tasks.<name>.*} override each of these values. The
 * limits of tasks in memory hold for the JVM, those of durable tasks for all nodes of the
 * store together. A task that has to wait for a limit stays pending: it can be cancelled,
 * replaced, moved and found. The tasks of a name start in the order in which they are
 * due.
 *
 * @since 0.1
 * @see Delayed#policy
 */
@Target({})
@Retention(RetentionPolicy.RUNTIME)
@Documented
public @interface TaskPolicy {

	/**
	 * How often a task is tried before it has failed for good. Default: one attempt in
	 * memory, {@code timingwheel.store.max-attempts} for a durable task.
	 * @return the number of attempts, 0 for the default
	 */
	int maxAttempts() default 0;

	/**
	 * How long a task that has failed waits for its next attempt.
	 * @return the backoff
	 */
	Backoff backoff() default @Backoff;

	/**
	 * How many bodies of the name run at once.
	 * @return the number of bodies, 0 for no limit
	 */
	int maxConcurrent() default 0;

	/**
	 * How many bodies of one key run at once. With 1, the runs of a key follow one
	 * another. Needs a {@link Delayed#key key}.
	 * @return the number of bodies, 0 for no limit
	 */
	int maxConcurrentPerKey() default 0;

	/**
	 * How many bodies of the name start in a second, a minute, an hour or a day:
	 * {@code 100/s}, {@code 20/m}, {@code 5000/h}, {@code 10000/d}. The starts are spread
	 * evenly: a burst is no larger than what is allowed in a tenth of a second, and at
	 * least one. May hold <code>${placeholders}</code> and
	 * <code>#{bean expressions}</code>.
	 * @return the rate, empty for no limit
	 */
	String rate() default "";

}

package io.timingwheel.spring.annotation;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import io.timingwheel.spring.task.Missed;

import org.springframework.aot.hint.annotation.Reflective;

/**
 * A method that runs again and again, on an executor.
 *
 * <pre class="code">
 * &#64;Recurring(cron = "0 0 3 * * *", zone = "Europe/Berlin", name = "nightly-report")
 * public void report() { ... }
 * </pre>
 *
 * <p>
 * Set one of {@link #cron}, {@link #every} and {@link #fixedDelay}. The method has no
 * arguments and returns {@code void}, or a {@code CompletableFuture},
 * {@code CompletionStage}, {@code Future} or
 * {@link io.timingwheel.spring.task.DelayedTask DelayedTask}, whose completion ends the
 * run. A method never overlaps itself. The runs begin at the end of the start, and end
 * when the application shuts down.
 *
 * <p>
 * The method runs with all advice of the bean, such as {@code @Transactional},
 * {@code @Retryable} and {@link Timeout}. The exception of a run that is not tried again
 * goes to the {@link org.springframework.aop.interceptor.AsyncUncaughtExceptionHandler
 * AsyncUncaughtExceptionHandler}, and the runs go on. Static, private and final methods,
 * texts that cannot be read, and {@code @Async} or {@link Delayed} on the same method
 * fail at startup. The annotation may be a meta-annotation, and may be on interface
 * methods.
 *
 * <p>
 * All texts take <code>${placeholders}</code> and <code>#{bean expressions}</code>, which
 * are resolved once, at startup.
 *
 * @since 0.1
 * @see io.timingwheel.spring.task.Schedule
 */
@Target({ ElementType.METHOD, ElementType.ANNOTATION_TYPE })
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Reflective
public @interface Recurring {

	/** The text that switches a method off, in place of a schedule. */
	String DISABLED = "-";

	/**
	 * The times as an expression of six fields, from seconds to days of the week, or as a
	 * macro such as {@code @daily}: what Spring's
	 * {@link org.springframework.scheduling.support.CronExpression CronExpression} reads.
	 * With {@code -} the method does not run.
	 * @return the expression
	 */
	String cron() default "";

	/**
	 * The period: {@code 30s}, {@code PT30M}, or a number of milliseconds. The runs keep
	 * their rhythm from the first one on, however long they take. With {@code -} the
	 * method does not run.
	 * @return the period
	 */
	String every() default "";

	/**
	 * The pause from the end of a run to the start of the next, written as {@link #every}
	 * is. With {@code -} the method does not run.
	 * @return the pause
	 */
	String fixedDelay() default "";

	/**
	 * The time zone of {@link #cron}, such as {@code Europe/Berlin}. Default: the time
	 * zone of the JVM.
	 * @return the time zone
	 */
	String zone() default "";

	/**
	 * How long after the start of the application the first run is due: a duration, for
	 * {@link #every} and {@link #fixedDelay}. Default: at once. If {@link #durable()},
	 * only the start that first stores this schedule counts.
	 * @return the duration
	 */
	String initialDelay() default "";

	/**
	 * The name of the task: in metrics, in the endpoint and in the store. One name
	 * belongs to one method. Default: {@code beanName.method}. Give durable methods a
	 * name.
	 * @return the name
	 */
	String name() default "";

	/**
	 * The bean name or qualifier of the executor that runs the body. Default: that of
	 * {@link Delayed#executor}.
	 * @return the executor's name
	 */
	String executor() default "";

	/**
	 * Whether the method has one run at each of its times in all nodes together, rather
	 * than one in each JVM. Needs a store ({@code timingwheel.store.type}); without one
	 * the application does not start. The schedule survives restarts. A node that starts
	 * with another schedule replaces it.
	 *
	 * <p>
	 * Like any {@linkplain Delayed#durable() durable task}, a run may be repeated if its
	 * node ends. A run that fails is tried again as {@link #policy} or the settings of
	 * the store say, but not later than the next time of the schedule. The thread that
	 * called the method waits for a returned future.
	 * @return whether all nodes together have one run at each time
	 */
	boolean durable() default false;

	/**
	 * What becomes of times that have passed without a run, because the run before took
	 * too long or, if {@link #durable()}, because no node was running. Does not matter
	 * for {@link #fixedDelay}.
	 * @return one run for all, none, or one for each
	 */
	Missed missed() default Missed.ONCE;

	/**
	 * How often a run that fails is tried, and what limits the starts of the method. The
	 * properties {@code timingwheel.tasks.<name>.*} override each value.
	 * {@link TaskPolicy#maxConcurrentPerKey} is an error here.
	 * @return the policy; by default there are no limits
	 */
	TaskPolicy policy() default @TaskPolicy;

}

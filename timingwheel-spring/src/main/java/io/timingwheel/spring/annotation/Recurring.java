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
 * arguments and returns {@code void} or a future. A run has ended when its future is
 * complete. A method never overlaps itself. The runs begin when the application has
 * started, and end when it shuts down.
 *
 * <p>
 * The method runs on the bean with all of its advice, such as {@code @Transactional},
 * {@code @Retryable} and {@link Timeout}. An exception of a run goes to the
 * {@link org.springframework.aop.interceptor.AsyncUncaughtExceptionHandler
 * AsyncUncaughtExceptionHandler}, and the runs go on. Static, private and final methods
 * fail at startup, as do other return types, arguments, and texts that cannot be read.
 * The annotation may be a meta-annotation, and may be on interface methods.
 *
 * <p>
 * All texts take <code>${placeholders}</code> and <code>#{bean expressions}</code>. They
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

	/**
	 * The text that switches a method off, in place of a schedule.
	 */
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
	 * How long after the start of the application the first run is due, for
	 * {@link #every} and {@link #fixedDelay}. Default: at once.
	 * @return the duration
	 */
	String initialDelay() default "";

	/**
	 * The name of the task: in metrics and in the endpoint. One name belongs to one
	 * method. Default: {@code beanName.method}.
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
	 * What becomes of times that have passed without a run, because the run before took
	 * too long. Does not matter for {@link #fixedDelay}.
	 * @return one run for all, none, or one for each
	 */
	Missed missed() default Missed.ONCE;

	/**
	 * What limits the starts of the method. The properties
	 * {@code timingwheel.tasks.<name>.*} override its values.
	 * @return the policy
	 */
	TaskPolicy policy() default @TaskPolicy;

}

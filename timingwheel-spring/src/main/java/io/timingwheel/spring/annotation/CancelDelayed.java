package io.timingwheel.spring.annotation;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.aot.hint.annotation.Reflective;

/**
 * Cancels the pending task of a {@link Delayed} method once the annotated method has
 * returned normally. If the annotated method returns a future, the task is cancelled once
 * the future has completed normally. If it returns a {@code Mono}, a {@code Flux} or
 * another reactive type, or if it is a Kotlin {@code suspend} function, the task is
 * cancelled at the normal completion of each subscription. An exception leaves the task
 * pending. If no task is pending, nothing happens. The handle of a durable task does not
 * show when that task ends, so a call that returns one counts as a normal return.
 *
 * <pre class="code">
 * &#64;CancelDelayed(name = "close-order", key = "#orderId")
 * public void pay(long orderId) { ... }
 * </pre>
 *
 * <p>
 * In a transaction, also a reactive one, the task is cancelled after the commit, and not
 * after a rollback. If a database keeps the durable tasks and takes part in the
 * transaction, a durable task is cancelled within the transaction. A task that is
 * scheduled after the call, by the same transaction or by another thread, stays.
 *
 * @since 0.1
 */
@Target({ ElementType.METHOD, ElementType.ANNOTATION_TYPE })
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Reflective
public @interface CancelDelayed {

	/**
	 * The name of the {@link Delayed} task. If no method has the name, the application
	 * does not start. With a store this causes only a warning, since another application
	 * may have the method.
	 * @return the name
	 */
	String name();

	/**
	 * A SpEL expression on the arguments that gives the key, such as {@code #orderId}.
	 * @return the expression
	 */
	String key();

	/**
	 * Whether to cancel before the method runs, however the method ends.
	 * @return whether to cancel first
	 */
	boolean beforeInvocation() default false;

}

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
 * the future has completed normally. An exception leaves the task pending. If no task is
 * pending, nothing happens.
 *
 * <pre class="code">
 * &#64;CancelDelayed(name = "close-order", key = "#orderId")
 * public void pay(long orderId) { ... }
 * </pre>
 *
 * <p>
 * In a transaction the task is cancelled after the commit, and not after a rollback. If a
 * database keeps the durable tasks and takes part in the transaction, a durable task is
 * cancelled within the transaction.
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

package io.timingwheel.spring.annotation;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.aot.hint.annotation.Reflective;

/**
 * Calls off the pending task of a {@link Delayed} method once the annotated method has
 * returned normally. If it returns a future, the task is called off once that has
 * completed normally. An exception leaves the task pending. If no task is pending,
 * nothing happens.
 *
 * <pre class="code">
 * &#64;CancelDelayed(name = "close-order", key = "#orderId")
 * public void pay(long orderId) { ... }
 * </pre>
 *
 * <p>
 * In a transaction the task is cancelled after the commit, and not after a rollback. A
 * durable task in a database that takes part in the transaction is cancelled within it.
 *
 * @since 0.1
 */
@Target({ ElementType.METHOD, ElementType.ANNOTATION_TYPE })
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Reflective
public @interface CancelDelayed {

	/**
	 * The name of the {@link Delayed} task. A name that no method has stops the start.
	 * With a store it only causes a warning, as another application may have the method.
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

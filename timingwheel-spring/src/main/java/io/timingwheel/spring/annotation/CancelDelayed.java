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
 * pending. If no task is pending, nothing happens. A method that returns the handle of a
 * durable task counts as returned at once, since such a handle does not complete.
 *
 * <pre class="code">
 * &#64;CancelDelayed(name = "close-order", key = "#orderId")
 * public void pay(long orderId) { ... }
 * </pre>
 *
 * <p>
 * In a transaction the task is cancelled after the commit, and not after a rollback. A
 * publisher cancels after the commit of the reactive transaction of its own method, and
 * does not wait for that of its caller. A durable task whose database takes part in the
 * transaction is cancelled within the transaction, unless the method returns a future
 * that is not done yet. A task that is scheduled after the call, by the same transaction
 * or by another thread, stays; a future that is not done yet cancels what is pending when
 * it completes.
 *
 * @since 0.1
 */
@Target({ ElementType.METHOD, ElementType.ANNOTATION_TYPE })
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Reflective
public @interface CancelDelayed {

	/**
	 * The name of the {@link Delayed} task. May hold <code>${placeholders}</code> and
	 * <code>#{bean expressions}</code>. If no method has the name, the application does
	 * not start. With a store, startup only logs a warning, since another application may
	 * have the method.
	 * @return the name
	 */
	String name();

	/**
	 * A SpEL expression on the arguments that gives the key, such as {@code #orderId}.
	 * Keys are compared by their texts ({@code toString()}). {@code null} is an error,
	 * and so is a key without a text of its own, such as an array.
	 * @return the expression
	 */
	String key();

	/**
	 * Whether to cancel the task before the method runs, so that the task does not run
	 * even if the method throws an exception. A task in memory is then cancelled at once,
	 * in a transaction too. In a transaction a durable task is cancelled with it, so a
	 * rollback keeps the task.
	 * @return whether to cancel first
	 */
	boolean beforeInvocation() default false;

}

package io.timingwheel.spring.annotation;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.aot.hint.annotation.Reflective;

/**
 * Calls off the pending task of a {@link Delayed} method once this method has returned
 * normally; when it returns a future, once that has completed normally. An exception
 * leaves the task pending. Nothing pending under the key is no error.
 *
 * <pre class="code">
 * &#64;CancelDelayed(name = "close-order", key = "#orderId")
 * public void pay(long orderId) { ... }
 * </pre>
 *
 * <p>
 * Inside a transaction the task is cancelled after the commit, and not after a rollback;
 * a durable task in a database that takes part in the transaction, within it.
 */
@Target({ ElementType.METHOD, ElementType.ANNOTATION_TYPE })
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Reflective
public @interface CancelDelayed {

	/**
	 * The name of the {@link Delayed} task. A name that no method has fails at startup;
	 * with a store it is only warned of, as the method may be that of another
	 * application.
	 * @return the name
	 */
	String name();

	/**
	 * A SpEL expression on the arguments that gives the key, such as {@code #orderId}.
	 * @return the expression
	 */
	String key();

	/**
	 * Whether to cancel at once, before the method runs and whatever becomes of it.
	 * @return whether to cancel first
	 */
	boolean beforeInvocation() default false;

}

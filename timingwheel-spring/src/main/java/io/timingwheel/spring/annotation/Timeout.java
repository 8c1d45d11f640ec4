package io.timingwheel.spring.annotation;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.aot.hint.annotation.Reflective;
import org.springframework.core.annotation.AliasFor;

/**
 * The method must finish in time.
 *
 * <pre class="code">
 * &#64;Timeout("800ms")
 * public Quote quote(Item item) { ... }
 * </pre>
 *
 * <p>
 * A synchronous method stays on its caller's thread, with its transaction, security
 * context and thread-locals. At the deadline that thread is interrupted, and once the
 * method has returned its caller gets a {@link MethodTimeoutException}; a result that
 * comes too late is discarded. The interrupt never outlasts the call, and one that was
 * there before stays. What does not respond to interruption, such as a loop that only
 * computes, runs on until it returns.
 *
 * <p>
 * A {@code CompletableFuture}, {@code CompletionStage} or {@code Future} completes with
 * the exception at the deadline, counted from the call, and the source is cancelled. A
 * {@code Mono} or {@code Flux} fails likewise unless it completes in time, counted from
 * each subscription. A body that blocks past the deadline before it returns one of these
 * is interrupted as any other.
 *
 * <p>
 * With {@code @Retryable} each attempt has a limit of its own. With
 * {@code @Transactional} the transaction rolls back, even if the body swallowed the
 * interrupt; when the deadline passes during the commit, the outcome is unknown. With
 * {@link Delayed} the limit is on the body. Among nested limits the exception of the
 * innermost one that expired passes through.
 *
 * <p>
 * May be used as a meta-annotation, and is found on interface methods. Calls from within
 * the same object are not intercepted. A limit that cannot be understood fails at
 * startup, as do private, static and final methods.
 */
@Target({ ElementType.METHOD, ElementType.ANNOTATION_TYPE })
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Reflective
public @interface Timeout {

	/**
	 * Alias for {@link #timeout}.
	 * @return the limit
	 */
	@AliasFor("timeout")
	String value() default "";

	/**
	 * The limit: {@code 800ms}, {@code PT1S}, <code>${property:default}</code> or
	 * <code>#{bean expression}</code>; without a unit, milliseconds. Positive. Resolved
	 * once, at startup.
	 * @return the limit
	 */
	@AliasFor("value")
	String timeout() default "";

	/**
	 * A SpEL expression on the arguments that gives the limit at each call, such as
	 * {@code #request.budget}: a {@code Duration}, a number of milliseconds or a text as
	 * in {@link #timeout}, in whose place it stands. When it gives zero or less, time is
	 * over and the body is not begun; anything else is an
	 * {@link IllegalArgumentException}.
	 * @return the expression
	 */
	String timeoutExpression() default "";

}

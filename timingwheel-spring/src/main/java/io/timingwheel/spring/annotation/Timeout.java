package io.timingwheel.spring.annotation;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.aot.hint.annotation.Reflective;
import org.springframework.core.annotation.AliasFor;

/**
 * Limits the time that a call of the method may take. On a class, limits its methods.
 *
 * <pre class="code">
 * &#64;Timeout("800ms")
 * public Quote quote(Item item) { ... }
 * </pre>
 *
 * <p>
 * A synchronous method runs on the thread of its caller, with the caller's transaction,
 * security context and thread-locals. At the deadline that thread is interrupted. Once
 * the method has returned, the caller gets a {@link MethodTimeoutException}; a late
 * result is discarded. The interrupt never outlasts the call, and an interrupt from
 * before the deadline stays. A body that ignores interrupts runs until it returns.
 *
 * <p>
 * A {@code CompletableFuture}, {@code CompletionStage} or {@code Future} completes with
 * the exception at the deadline, and the future of the body is cancelled; the time counts
 * from the call. Each subscription of a {@code Mono}, a {@code Flux} or another type that
 * Spring adapts to them fails at its deadline, counted from the subscription. Until it
 * returns, the body itself is limited in all cases. The declared type decides. Many other
 * types whose work comes later, such as a {@code Supplier}, a {@code Stream} or a
 * {@code DeferredResult}, fail at startup.
 *
 * <p>
 * With {@code @Retryable}, each attempt has a limit of its own; an attempt that ends with
 * a {@link #fallback} is not repeated. With {@code @Transactional}, a timeout rolls back,
 * even if the body ignores the interrupt; if the deadline passes during the commit, the
 * outcome is unknown. With {@link Delayed}, the limit applies to the body. If the limits
 * of nested calls expire, the exception of the innermost call passes through, and has
 * those of the outer calls suppressed.
 *
 * <p>
 * The annotation may be on interface methods, and may be a meta-annotation. Calls within
 * the same object have no limit. An invalid limit fails at startup, as does a private,
 * static or final method.
 *
 * <p>
 * On a class, the annotation is the default of the methods that the class and its
 * subclasses declare, and on an interface that of the methods of the interface, but for
 * private and static methods, {@code equals}, {@code hashCode} and {@code toString}. The
 * annotation of a method precedes that of a class, which precedes that of an interface.
 *
 * @since 0.1
 * @see MethodTimeoutException
 */
@Target({ ElementType.METHOD, ElementType.TYPE, ElementType.ANNOTATION_TYPE })
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
	 * <code>#{bean expression}</code>. A number without a unit counts milliseconds. The
	 * limit is resolved once, at startup, and must be positive. The property
	 * {@code timingwheel.timeout.limits.<bean>.<method>} overrides the limit.
	 * @return the limit
	 */
	@AliasFor("value")
	String timeout() default "";

	/**
	 * A SpEL expression on the arguments that gives the limit of each call, such as
	 * {@code #request.budget}. The value is a {@code Duration}, a number of milliseconds
	 * or a text as in {@link #timeout}; any other value fails the call with an
	 * {@link IllegalArgumentException}. If the value is zero or negative, the call times
	 * out before the body begins. Set either this attribute or {@link #timeout}.
	 * @return the expression
	 */
	String timeoutExpression() default "";

	/**
	 * The name of a method that gives the result in place of a
	 * {@link MethodTimeoutException}:
	 *
	 * <pre class="code">
	 * &#64;Timeout(timeout = "800ms", fallback = "lastQuote")
	 * public Quote quote(Item item) { ... }
	 *
	 * private Quote lastQuote(Item item, MethodTimeoutException timeout) { ... }
	 * </pre>
	 *
	 * The fallback is in the class of the bean, may be inherited, and has any visibility.
	 * It has the parameters of the method, optionally the exception as the last one, and
	 * a result that fits, which is checked at startup. It is called on the bean itself,
	 * so no advice applies to it, and it has no time limit. If it throws, the caller gets
	 * that exception, with the timeout suppressed.
	 *
	 * <p>
	 * After a synchronous method the fallback runs on the thread of the caller, when the
	 * transaction of the method has been rolled back. For a future or a publisher it runs
	 * at the deadline on another thread, in the context of the call; what it returns
	 * takes the place of the future, or follows what a {@code Flux} has emitted.
	 * @return the name of the method, empty for none
	 */
	String fallback() default "";

}

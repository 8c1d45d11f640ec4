package io.timingwheel.spring.annotation;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import io.timingwheel.spring.task.IfPending;

import org.springframework.aot.hint.annotation.Reflective;
import org.springframework.core.annotation.AliasFor;

/**
 * A call of the method returns at once, and its body runs after a delay, on an executor.
 *
 * <pre class="code">
 * &#64;Delayed(delay = "${orders.payment-window:30m}", name = "close-order", key = "#orderId")
 * public void closeIfUnpaid(long orderId) { ... }
 * </pre>
 *
 * <p>
 * The method returns {@code void}, {@code Future}, {@code CompletionStage},
 * {@code CompletableFuture} or {@link io.timingwheel.spring.task.DelayedTask
 * DelayedTask}; anything else fails at startup, as do private, final and static methods,
 * which a proxy cannot intercept. A call from within the same object is not intercepted
 * either: use the {@link io.timingwheel.spring.task.DelayedTaskTemplate
 * DelayedTaskTemplate} there.
 *
 * <p>
 * Exceptions complete the future; those of a {@code void} method go to the
 * {@link org.springframework.aop.interceptor.AsyncUncaughtExceptionHandler
 * AsyncUncaughtExceptionHandler}. {@code @Retryable}, {@code @Transactional} and the like
 * on the same method act on the body. May be used as a meta-annotation, and is found on
 * interface methods.
 *
 * <p>
 * {@link #durable() Durable} calls are stored as JSON and run at least once: a body whose
 * node ended, or that failed, is run again, so that it has to bear repetition (see
 * {@link io.timingwheel.spring.task.DelayedTaskContext DelayedTaskContext}). Such a
 * method returns {@code void} or {@code DelayedTask<Void>}; nobody looks at what its body
 * returns, and the exception handler hears of its last failure only. Arguments are values
 * that Jackson can write and read as the declared types, such as ids and records; JPA
 * entities, lambdas, open resources and types whose JSON would name a class are refused,
 * at startup where the signature shows it, else at the call.
 *
 * @see CancelDelayed
 */
@Target({ ElementType.METHOD, ElementType.ANNOTATION_TYPE })
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Reflective
public @interface Delayed {

	/**
	 * Alias for {@link #delay}.
	 * @return the delay
	 */
	@AliasFor("delay")
	String value() default "";

	/**
	 * The delay: {@code 30s}, {@code PT30M}, <code>${property:default}</code> or
	 * <code>#{bean expression}</code>. Without a unit, milliseconds. Resolved once, at
	 * startup. Zero and negative delays mean: as soon as possible.
	 * @return the delay
	 */
	@AliasFor("value")
	String delay() default "";

	/**
	 * A SpEL expression on the arguments that gives the delay at each call, such as
	 * {@code #order.ttl}: a {@code Duration}, a number of milliseconds, or the
	 * {@code Instant} that the task is due. In place of {@link #delay}.
	 * @return the expression
	 */
	String delayExpression() default "";

	/**
	 * The name of the task: in metrics, in the endpoint, in {@link CancelDelayed} and as
	 * the handler of durable tasks. One name belongs to one method. Default:
	 * {@code beanName.method}. Give durable methods a name: by the default, stored tasks
	 * no longer find their method once it or its bean is renamed.
	 * @return the name
	 */
	String name() default "";

	/**
	 * Earlier names under which durable tasks may still be stored. A method that is not
	 * durable has none.
	 * @return the earlier names
	 */
	String[] aliases() default {};

	/**
	 * A SpEL expression on the arguments that names the pending task within
	 * {@link #name}, such as {@code #orderId}. Its value counts by
	 * {@code String.valueOf}; {@code null} is an error. Empty: each call is a task of its
	 * own.
	 * @return the expression
	 */
	String key() default "";

	/**
	 * What to do when a task with the same key is pending.
	 * @return replace it, keep it, or reject the call
	 */
	IfPending ifPending() default IfPending.REPLACE;

	/**
	 * The bean name or qualifier of the executor that runs the body. Default:
	 * {@code applicationTaskExecutor}, else the only {@code TaskExecutor}, else
	 * {@code taskExecutor}, else an internal pool.
	 * @return the executor's name
	 */
	String executor() default "";

	/**
	 * Whether the invocation is stored, so that it survives restarts and runs on any node
	 * that has the method. Needs a store ({@code timingwheel.store.type}); without one
	 * the application does not start. In a transaction the call is stored with its
	 * commit.
	 * @return whether to store it
	 */
	boolean durable() default false;

	/**
	 * Not to be started when this much time has passed since it was due: a duration, or a
	 * placeholder for one. Default: it is started however late.
	 * @return the duration
	 */
	String expireAfter() default "";

	/**
	 * Inside a transaction, schedule only once it has committed; after a rollback nothing
	 * is scheduled. Without a transaction, schedule at once. Of durable calls this is
	 * always so.
	 * @return whether to wait for the commit
	 */
	boolean afterCommit() default false;

}

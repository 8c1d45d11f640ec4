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
 * DelayedTask}. Other return types, and private, final and static methods, fail at
 * startup. A call from within the same object is not intercepted.
 *
 * <p>
 * An exception of the body completes the future, or of a {@code void} method goes to the
 * {@link org.springframework.aop.interceptor.AsyncUncaughtExceptionHandler
 * AsyncUncaughtExceptionHandler}. {@code @Retryable}, {@code @Transactional} and the like
 * on the same method act on the body. {@code @Async} on the same method fails at startup.
 * The annotation may be a meta-annotation, and may be on interface methods.
 *
 * <p>
 * {@link #durable() Durable} calls are stored as JSON and run at least once. A body that
 * failed, or whose node ended, runs again, so it must tolerate repetition (see
 * {@link io.timingwheel.spring.task.DelayedTaskContext DelayedTaskContext}) or be
 * {@link #transactional()}. Such a method returns {@code void} or
 * {@code DelayedTask<Void>}; the result of its body is ignored, and the exception handler
 * gets only its last failure. Arguments are values that Jackson can write and read as the
 * declared types, such as ids and records; others are refused, at startup if the
 * signature shows the problem, else at the call.
 *
 * @since 0.1
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
	 * <code>#{bean expression}</code>. A number without a unit counts milliseconds. The
	 * delay is resolved once, at startup. Zero and negative delays mean: as soon as
	 * possible.
	 * @return the delay
	 */
	@AliasFor("value")
	String delay() default "";

	/**
	 * A SpEL expression on the arguments that gives the delay at each call, such as
	 * {@code #order.ttl}: a {@code Duration}, a number of milliseconds, or the
	 * {@code Instant} at which the task is due. Set either this attribute or
	 * {@link #delay}.
	 * @return the expression
	 */
	String delayExpression() default "";

	/**
	 * The name of the task: in metrics, in the endpoint, in {@link CancelDelayed} and in
	 * the store. One name belongs to one method. Default: {@code beanName.method}. Give
	 * durable methods a name, since stored tasks find their method by it. May hold
	 * <code>${placeholders}</code> and <code>#{bean expressions}</code>, as
	 * {@link #aliases} and {@link #executor} may.
	 * @return the name
	 */
	String name() default "";

	/**
	 * Earlier names under which durable tasks and schedules may still be stored. Only for
	 * durable methods.
	 * @return the earlier names
	 */
	String[] aliases() default {};

	/**
	 * A SpEL expression on the arguments that names the pending task within
	 * {@link #name}, such as {@code #orderId}. Keys are compared by their texts
	 * ({@code toString()}). {@code null} is an error, and so is a key without a text of
	 * its own, such as an array. Default: no key, so each call is a separate task.
	 * @return the expression
	 */
	String key() default "";

	/**
	 * What to do when a task with the same key is pending. A task is pending until it
	 * begins, so the new task may be pending while an earlier one runs.
	 * @return replace it, update it, keep it, or reject the call
	 */
	IfPending ifPending() default IfPending.REPLACE;

	/**
	 * How long calls that replace the pending task can put it off: a duration, as in
	 * {@link #delay}, after the first call since the task last began. Only for
	 * {@link IfPending#REPLACE}, with a {@link #key}. Default: no limit.
	 * @return the duration
	 */
	String maxWait() default "";

	/**
	 * The bean name or qualifier of the executor that runs the body. Default:
	 * {@code applicationTaskExecutor}, else the only {@code TaskExecutor}, else
	 * {@code taskExecutor}, else an internal pool. A {@code TaskScheduler} runs bodies
	 * only where this names it.
	 * @return the executor's name
	 */
	String executor() default "";

	/**
	 * Whether the call is stored, so that it survives restarts and runs on any node that
	 * has the method. Needs a store ({@code timingwheel.store.type}); without one the
	 * application does not start. In a transaction the call takes effect at the commit,
	 * and not after a rollback.
	 * @return whether to store it
	 */
	boolean durable() default false;

	/**
	 * Whether the body runs in a transaction that also deletes the stored task, so that
	 * what the body changes in the database takes effect exactly once. Only for
	 * {@link #durable()} methods with the JDBC store. Needs a transaction manager for the
	 * {@code DataSource} in which the tasks are stored, such as
	 * {@code JdbcTransactionManager} or {@code JpaTransactionManager}.
	 *
	 * <p>
	 * {@code @Transactional} on the method joins this transaction. If the body throws any
	 * exception, marks the transaction as rollback-only or loses the lease of its task,
	 * the transaction rolls back, and the attempt has failed. What the body does outside
	 * of the database may still happen more than once.
	 * @return whether the body and its acknowledgement are one transaction
	 */
	boolean transactional() default false;

	/**
	 * How late the body may start: a duration, as in {@link #delay}. A later task is
	 * dropped, and counted as expired. Default: no limit.
	 * @return the duration
	 */
	String expireAfter() default "";

	/**
	 * Whether a call in a transaction is scheduled only after the commit, and never after
	 * a rollback, as durable calls always are. Does not see a reactive transaction.
	 * @return whether to wait for the commit
	 */
	boolean afterCommit() default false;

	/**
	 * How often the tasks of this name are tried, and what limits their starts. The
	 * properties {@code timingwheel.tasks.<name>.*} override each value.
	 * @return the policy; by default there are no limits
	 */
	TaskPolicy policy() default @TaskPolicy;

}

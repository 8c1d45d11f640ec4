package io.timingwheel.spring.task.memory;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * What all tasks of one annotated method, or of one call of the template, have in common:
 * their name, their executor and their body. Implementations are thread-safe.
 *
 * @param <P> the type of the payload of a task: a call, the arguments of a call, or the
 * code to run
 * @since 0.1
 */
public abstract class TaskDefinition<P> {

	static final long NEVER = Long.MAX_VALUE;

	private final String name;

	private final NamedTasks tasks;

	private final Supplier<? extends Executor> executor;

	private final long expireAfterNanos;

	/**
	 * Creates a definition.
	 * @param registry the registry of the tasks
	 * @param name the name of the tasks, which becomes known
	 * @param executor gives the executor that runs the body; called whenever a task needs
	 * the executor
	 * @param expireAfter how late a task may start, {@code null} for no limit
	 */
	protected TaskDefinition(DelayedTaskRegistry registry, String name, Supplier<? extends Executor> executor,
			@Nullable Duration expireAfter) {
		this.name = name;
		this.tasks = registry.tasksOf(name);
		this.executor = executor;
		this.expireAfterNanos = (expireAfter != null) ? TaskClock.nanos(expireAfter) : NEVER;
	}

	/**
	 * Runs the body of a task.
	 * @param payload the payload of the task
	 * @return the result or, if {@link #flattens()}, perhaps a future for it
	 * @throws Throwable if the task fails
	 */
	protected abstract @Nullable Object run(P payload) throws Throwable;

	/**
	 * Handles the exception of a task, on the thread that ran the task. Afterwards the
	 * exception completes the future of the task, if there is a future.
	 * @param error what was thrown
	 * @param payload the payload of the task
	 */
	protected void handleError(Throwable error, P payload) {
	}

	/**
	 * Handles the exception of a task that its future cannot show anybody: nobody waits
	 * for the future, and nothing depends on it.
	 * @param error what was thrown
	 * @param payload the payload of the task
	 */
	protected void handleUnseenError(Throwable error, P payload) {
	}

	/**
	 * Whether the task waits for a future that {@link #run} returns, and takes over its
	 * result.
	 * @return whether to wait, without blocking a thread, for a returned future
	 */
	protected boolean flattens() {
		return false;
	}

	/**
	 * The annotated method.
	 * @return the method, {@code null} for a task of the template
	 */
	protected @Nullable Method method() {
		return null;
	}

	/**
	 * Whether a task that fails may be tried again.
	 * @return whether {@link #run} may get the same payload again
	 */
	protected final boolean isTriedAgain() {
		return this.tasks.policy().maxAttempts(1) > 1;
	}

	final String name() {
		return this.name;
	}

	final NamedTasks tasks() {
		return this.tasks;
	}

	final Executor executor() {
		return this.executor.get();
	}

	/**
	 * How late a task may start, {@link #NEVER} for no limit.
	 */
	final long expireAfterNanos() {
		return this.expireAfterNanos;
	}

	final boolean isExpired(long latenessNanos) {
		return latenessNanos > this.expireAfterNanos;
	}

}

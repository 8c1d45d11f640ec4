package io.timingwheel.spring.task.memory;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * What all tasks of one annotated method, or of one call of the template, have in common:
 * their name, their executor and their body. Implementations are thread-safe.
 */
public abstract class TaskDefinition<P> {

	private static final long NEVER = Long.MAX_VALUE;

	private final NamedTasks tasks;

	private final Supplier<? extends Executor> executor;

	private final long expireAfterNanos;

	/**
	 * Creates a definition.
	 * @param expireAfter how late a task may start, {@code null} for no limit
	 */
	protected TaskDefinition(DelayedTaskRegistry registry, String name, Supplier<? extends Executor> executor,
			@Nullable Duration expireAfter) {
		this.tasks = registry.tasksOf(name);
		this.executor = executor;
		this.expireAfterNanos = (expireAfter != null) ? TaskClock.nanos(expireAfter) : NEVER;
	}

	/**
	 * Runs the body of a task.
	 * @throws Throwable if the task fails
	 */
	protected abstract @Nullable Object run(P payload) throws Throwable;

	/**
	 * Handles the exception of a task, on the thread that ran the task. Afterwards the
	 * exception completes the future of the task, if there is a future.
	 */
	protected void handleError(Throwable error, P payload) {
	}

	/**
	 * Handles the exception of a task that its future cannot show anybody: nobody waits
	 * for the future, and nothing depends on it.
	 */
	protected void handleUnseenError(Throwable error, P payload) {
	}

	/**
	 * Whether the task waits for a future that {@link #run} returns, and takes over its
	 * result.
	 */
	protected boolean flattens() {
		return false;
	}

	protected @Nullable Method method() {
		return null;
	}

	protected final boolean isTriedAgain() {
		return this.tasks.policy().maxAttempts(1) > 1;
	}

	final NamedTasks tasks() {
		return this.tasks;
	}

	final Executor executor() {
		return this.executor.get();
	}

	final boolean expires() {
		return this.expireAfterNanos != NEVER;
	}

	final boolean isExpired(long latenessNanos) {
		return latenessNanos > this.expireAfterNanos;
	}

	/** When a task can begin no more. */
	final long tooLate(long dueNanos) {
		return dueNanos + this.expireAfterNanos + 1;
	}

}

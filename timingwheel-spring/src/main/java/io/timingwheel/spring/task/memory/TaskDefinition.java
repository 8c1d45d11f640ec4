package io.timingwheel.spring.task.memory;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * What all tasks of a method, or of one call of the template, have in common.
 * Implementations are thread-safe.
 */
public abstract class TaskDefinition<P> {

	private static final long NEVER = Long.MAX_VALUE;

	private final NamedTasks tasks;

	private final Supplier<? extends Executor> executor;

	private final long expireAfterNanos;

	protected TaskDefinition(DelayedTaskRegistry registry, String name, Supplier<? extends Executor> executor,
			@Nullable Duration expireAfter) {
		this.tasks = registry.tasksOf(name);
		this.executor = executor;
		this.expireAfterNanos = (expireAfter != null) ? TaskClock.nanos(expireAfter) : NEVER;
	}

	protected abstract @Nullable Object run(P payload) throws Throwable;

	/** Handles an exception, on the thread of the task, before its future has it. */
	protected void handleError(Throwable error, P payload) {
	}

	/** Handles an exception that no future shows anybody. */
	protected void handleUnseenError(Throwable error, P payload) {
	}

	/** Whether the task takes over the result of a future that {@link #run} returns. */
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

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
public abstract class TaskDefinition {

	final NamedTasks tasks;

	private final Supplier<? extends Executor> executor;

	private final long expireAfterNanos;

	protected TaskDefinition(DelayedTaskRegistry registry, String name, Supplier<? extends Executor> executor,
			@Nullable Duration expireAfter) {
		this.tasks = registry.tasksOf(name);
		this.executor = executor;
		this.expireAfterNanos = (expireAfter != null) ? TaskClock.nanos(expireAfter) : Long.MAX_VALUE;
	}

	protected abstract @Nullable Object run(Object payload) throws Throwable;

	protected void handleError(Throwable error, Object payload) {
	}

	/**
	 * Whether a future shows an exception, which is handled only if nobody can see it
	 * there, and ends a repeating task. All others are handled in the context of the
	 * body.
	 */
	protected boolean showsErrors() {
		return false;
	}

	/** Whether the task takes over the result of a future that {@link #run} returns. */
	protected boolean flattens() {
		return false;
	}

	protected @Nullable Method method() {
		return null;
	}

	protected final boolean isTriedAgain() {
		return this.tasks.policy.maxAttempts(1) > 1;
	}

	final Executor executor() {
		return this.executor.get();
	}

	final boolean isExpired(long latenessNanos) {
		return latenessNanos > this.expireAfterNanos;
	}

}

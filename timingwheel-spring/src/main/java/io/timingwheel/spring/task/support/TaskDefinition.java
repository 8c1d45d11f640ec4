package io.timingwheel.spring.task.support;

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * What all tasks of one annotated method, or of one call of the template, have in common.
 * Made by {@link DelayedTaskRegistry#define}.
 *
 * @param <P> what each task is given
 */
public final class TaskDefinition<P> {

	private static final long NEVER = Long.MAX_VALUE;

	private final String name;

	private final NamedTasks tasks;

	private final TaskBody<P> body;

	private final Supplier<? extends Executor> executor;

	private final long expireAfterNanos;

	TaskDefinition(String name, NamedTasks tasks, TaskBody<P> body, Supplier<? extends Executor> executor,
			@Nullable Duration expireAfter) {
		this.name = name;
		this.tasks = tasks;
		this.body = body;
		this.executor = executor;
		this.expireAfterNanos = (expireAfter != null) ? Nanos.of(expireAfter) : NEVER;
	}

	/**
	 * The tasks' name.
	 * @return the name
	 */
	public String name() {
		return this.name;
	}

	NamedTasks tasks() {
		return this.tasks;
	}

	TaskBody<P> body() {
		return this.body;
	}

	Executor executor() {
		return this.executor.get();
	}

	boolean isExpired(long latenessNanos) {
		return latenessNanos > this.expireAfterNanos;
	}

}

package io.timingwheel.spring.task.support;

import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.TaskSpec;
import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;

/**
 * Collects the description of a task and schedules it.
 */
final class DefaultTaskSpec<T extends @Nullable Object> implements TaskSpec<T> {

	private final DelayedTaskRegistry tasks;

	private final TaskExecutors executors;

	private final TaskBody<Object> body;

	private final Object code;

	private String name = DelayedTaskRegistry.UNNAMED;

	private @Nullable String key;

	private IfPending ifPending = IfPending.REPLACE;

	private Supplier<? extends Executor> executor;

	DefaultTaskSpec(DelayedTaskRegistry tasks, TaskExecutors executors, TaskBody<Object> body, Object code) {
		this.tasks = tasks;
		this.executors = executors;
		this.body = body;
		this.code = code;
		this.executor = executors::defaultExecutor;
	}

	@Override
	public TaskSpec<T> name(String name) {
		Assert.hasText(name, "The name must not be empty");
		this.name = name;
		this.key = null;
		return this;
	}

	@Override
	public TaskSpec<T> id(TaskId id) {
		Assert.notNull(id, "The id must not be null");
		this.name = id.name();
		this.key = id.key();
		return this;
	}

	@Override
	public TaskSpec<T> ifPending(IfPending ifPending) {
		Assert.notNull(ifPending, "What to do if pending must not be null");
		this.ifPending = ifPending;
		return this;
	}

	@Override
	public TaskSpec<T> executor(String nameOrQualifier) {
		Assert.hasText(nameOrQualifier, "The name of the executor must not be empty");
		return executor(this.executors.named(nameOrQualifier));
	}

	@Override
	public TaskSpec<T> executor(Executor executor) {
		Assert.notNull(executor, "The executor must not be null");
		this.executor = () -> executor;
		return this;
	}

	@Override
	public DelayedTask<T> after(Duration delay) {
		Assert.notNull(delay, "The delay must not be null");
		return schedule(this.tasks.clock().after(delay));
	}

	@Override
	public DelayedTask<T> at(Instant due) {
		Assert.notNull(due, "The time must not be null");
		return schedule(this.tasks.clock().at(due));
	}

	@Override
	public DelayedTask<T> every(Duration period) {
		return repeat(period, true);
	}

	@Override
	public DelayedTask<T> withFixedDelay(Duration delay) {
		return repeat(delay, false);
	}

	private DelayedTask<T> schedule(Deadline due) {
		return schedule(this.tasks.submission(define(), this.key, this.ifPending, this.code, true), due);
	}

	private DelayedTask<T> repeat(Duration period, boolean fixedRate) {
		Assert.notNull(period, "The period must not be null");
		Assert.isTrue(period.compareTo(Duration.ZERO) > 0, () -> "The period must be positive, not " + period);
		TaskSubmission submission = this.tasks.repetition(define(), this.key, this.ifPending, this.code,
				Nanos.of(period), fixedRate);
		return schedule(submission, this.tasks.clock().after(period));
	}

	private TaskDefinition<Object> define() {
		return this.tasks.define(this.name, this.body, this.executor, null);
	}

	@SuppressWarnings("unchecked")
	private static <T extends @Nullable Object> DelayedTask<T> schedule(TaskSubmission submission, Deadline due) {
		return (DelayedTask<T>) Objects.requireNonNull(submission.schedule(due));
	}

}

package io.timingwheel.spring.task.memory;

import java.lang.reflect.Method;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.Missed;
import io.timingwheel.spring.task.Schedule;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.TaskSpec;
import io.timingwheel.spring.task.internal.TaskExecutors;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.interceptor.AsyncUncaughtExceptionHandler;
import org.springframework.util.Assert;
import org.springframework.util.ClassUtils;

/**
 * Collects the description of a task of the template, and schedules the task.
 */
final class DefaultTaskSpec<T extends @Nullable Object> implements TaskSpec<T> {

	private final DelayedTaskRegistry tasks;

	private final TaskExecutors executors;

	private final AsyncUncaughtExceptionHandler exceptionHandler;

	/** A {@link Callable} or a {@link Runnable}. */
	private final Object task;

	private final boolean callable;

	private String name = DelayedTaskRegistry.UNNAMED;

	private @Nullable String key;

	private IfPending ifPending = IfPending.REPLACE;

	private @Nullable Duration maxWait;

	private Supplier<? extends Executor> executor;

	DefaultTaskSpec(DelayedTaskRegistry tasks, TaskExecutors executors, AsyncUncaughtExceptionHandler exceptionHandler,
			Object task, boolean callable) {
		this.tasks = tasks;
		this.executors = executors;
		this.exceptionHandler = exceptionHandler;
		this.task = task;
		this.callable = callable;
		this.executor = executors::defaultExecutor;
	}

	@Override
	public TaskSpec<T> name(String name) {
		TaskId.checkName(name);
		Assert.state(this.key == null, () -> "The task has an id already, with the name \"%s\"".formatted(this.name));
		this.name = name;
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
		Assert.notNull(ifPending, "The IfPending value must not be null");
		this.ifPending = ifPending;
		return this;
	}

	@Override
	public TaskSpec<T> maxWait(Duration maxWait) {
		Assert.notNull(maxWait, "The longest wait must not be null");
		Assert.isTrue(!maxWait.isNegative(), "The longest wait must not be negative");
		this.maxWait = maxWait;
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
		return repeat(Schedule.every(period), Missed.ALL);
	}

	@Override
	public DelayedTask<T> withFixedDelay(Duration delay) {
		return repeat(Schedule.fixedDelay(delay), Missed.ALL);
	}

	@Override
	public DelayedTask<T> on(Schedule schedule) {
		Assert.notNull(schedule, "The schedule must not be null");
		return repeat(schedule, Missed.ONCE);
	}

	private DelayedTask<T> repeat(Schedule schedule, Missed missed) {
		Assert.isTrue(this.maxWait == null, "A repeating task has no longest wait");
		TaskDefinition<Object> definition = define();
		Repetition repetition = new Repetition(this.task, definition, schedule, missed, true);
		return handle(TaskSubmission.repeat(definition, this.key, this.ifPending, repetition, null));
	}

	private DelayedTask<T> schedule(Deadline due) {
		if (this.maxWait != null) {
			Assert.isTrue(this.key != null && this.ifPending == IfPending.REPLACE,
					"A longest wait needs an id, and IfPending.REPLACE");
		}
		return handle(
				new TaskSubmission(define(), this.key, this.ifPending, this.maxWait, this.task, true).schedule(due));
	}

	private TaskDefinition<Object> define() {
		return new Code(this.tasks, this.name, this.executor, this.callable, this.exceptionHandler);
	}

	@SuppressWarnings("unchecked")
	private DelayedTask<T> handle(@Nullable DelayedTask<?> task) {
		return (DelayedTask<T>) Objects.requireNonNull(task);
	}

	/**
	 * Runs the code of the template. Its type does not tell, since it may be both a
	 * {@link Callable} and a {@link Runnable}.
	 */
	private static final class Code extends TaskDefinition<Object> {

		private final boolean callable;

		private final AsyncUncaughtExceptionHandler exceptionHandler;

		Code(DelayedTaskRegistry tasks, String name, Supplier<? extends Executor> executor, boolean callable,
				AsyncUncaughtExceptionHandler exceptionHandler) {
			super(tasks, name, executor, null);
			this.callable = callable;
			this.exceptionHandler = exceptionHandler;
		}

		@Override
		protected @Nullable Object run(Object task) throws Exception {
			if (this.callable) {
				return ((Callable<?>) task).call();
			}
			((Runnable) task).run();
			return null;
		}

		@Override
		protected void handleUnseenError(Throwable error, Object task) {
			this.exceptionHandler.handleUncaughtException(error, method(task));
		}

		private Method method(Object task) {
			String name = this.callable ? "call" : "run";
			Method method = ClassUtils.getMethodIfAvailable(task.getClass(), name);
			return (method != null) ? method
					: ClassUtils.getMethod(this.callable ? Callable.class : Runnable.class, name);
		}

	}

}

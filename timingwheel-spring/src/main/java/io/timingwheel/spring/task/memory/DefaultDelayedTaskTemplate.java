package io.timingwheel.spring.task.memory;

import java.lang.reflect.Method;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DelayedTaskTemplate;
import io.timingwheel.spring.task.DurableCall;
import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.Missed;
import io.timingwheel.spring.task.Schedule;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.TaskSpec;
import io.timingwheel.spring.task.internal.TaskExecutors;
import io.timingwheel.spring.task.memory.TaskClock.Deadline;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.interceptor.AsyncUncaughtExceptionHandler;
import org.springframework.util.Assert;
import org.springframework.util.ClassUtils;

/** Schedules tasks in memory and, if there is a store, durable ones. Thread-safe. */
public final class DefaultDelayedTaskTemplate extends DelayedTaskTemplate {

	private static final String ID_NULL = "The id must not be null";

	private static final String DELAY_NULL = "The delay must not be null";

	private final DelayedTaskRegistry tasks;

	private final TaskExecutors executors;

	private final AsyncUncaughtExceptionHandler exceptionHandler;

	private final @Nullable Store stored;

	public DefaultDelayedTaskTemplate(DelayedTaskRegistry tasks, TaskExecutors executors,
			AsyncUncaughtExceptionHandler exceptionHandler, @Nullable Store stored) {
		this.tasks = tasks;
		this.executors = executors;
		this.exceptionHandler = exceptionHandler;
		this.stored = stored;
	}

	@Override
	public TaskSpec<@Nullable Void> task(Runnable task) {
		Assert.notNull(task, "The task must not be null");
		return new Spec<>(task, false);
	}

	@Override
	public <T extends @Nullable Object> TaskSpec<T> task(Callable<T> task) {
		Assert.notNull(task, "The task must not be null");
		return new Spec<>(task, true);
	}

	@Override
	public List<DelayedTask<@Nullable Void>> enqueueAll(Collection<DurableCall> calls) {
		Assert.notNull(calls, "The calls must not be null");
		Assert.noNullElements(calls, "None of the calls may be null");
		return store().enqueueAll(calls);
	}

	@Override
	public DelayedTask<@Nullable Void> recur(TaskId id, Schedule schedule, @Nullable Object... arguments) {
		Assert.notNull(id, ID_NULL);
		Assert.notNull(schedule, "The schedule must not be null");
		return store().recur(id, schedule, arguments);
	}

	private Store store() {
		Store stored = this.stored;
		Assert.state(stored != null,
				"There is no store to keep durable tasks in: add the dependency io.timingwheel:timingwheel-jdbc or"
						+ " io.timingwheel:timingwheel-redis and set timingwheel.store.type to jdbc or redis");
		return stored;
	}

	@Override
	public boolean cancel(TaskId id) {
		Assert.notNull(id, ID_NULL);
		return this.tasks.cancel(id) || (mayBeStored(id) && store().cancel(id));
	}

	@Override
	public boolean reschedule(TaskId id, Duration delay) {
		Assert.notNull(id, ID_NULL);
		Assert.notNull(delay, DELAY_NULL);
		return this.tasks.reschedule(id, delay) || (mayBeStored(id) && store().reschedule(id, delay));
	}

	@Override
	public Optional<DelayedTask<?>> find(TaskId id) {
		Assert.notNull(id, ID_NULL);
		return this.tasks.find(id).or(() -> mayBeStored(id) ? store().find(id) : Optional.empty());
	}

	/** The store gets no requests for names that only tasks in memory have. */
	private boolean mayBeStored(TaskId id) {
		Store stored = this.stored;
		return stored != null && (stored.owns(id.name()) || !this.tasks.isKnown(id.name()));
	}

	@Override
	public long pendingCount() {
		return this.tasks.pendingCount();
	}

	private final class Spec<T extends @Nullable Object> implements TaskSpec<T> {

		/** A {@link Callable} or a {@link Runnable}. */
		private final Object task;

		private final boolean callable;

		private String name = DelayedTaskRegistry.UNNAMED;

		private @Nullable String key;

		private IfPending ifPending = IfPending.REPLACE;

		private @Nullable Duration maxWait;

		private Supplier<? extends Executor> executor = DefaultDelayedTaskTemplate.this.executors::defaultExecutor;

		Spec(Object task, boolean callable) {
			this.task = task;
			this.callable = callable;
		}

		@Override
		public TaskSpec<T> name(String name) {
			TaskId.checkName(name);
			Assert.state(this.key == null,
					() -> "The task has an id already, with the name \"%s\"".formatted(this.name));
			this.name = name;
			return this;
		}

		@Override
		public TaskSpec<T> id(TaskId id) {
			Assert.notNull(id, ID_NULL);
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
			return executor(DefaultDelayedTaskTemplate.this.executors.named(nameOrQualifier));
		}

		@Override
		public TaskSpec<T> executor(Executor executor) {
			Assert.notNull(executor, "The executor must not be null");
			this.executor = () -> executor;
			return this;
		}

		@Override
		public DelayedTask<T> after(Duration delay) {
			Assert.notNull(delay, DELAY_NULL);
			return schedule(DefaultDelayedTaskTemplate.this.tasks.clock().after(delay));
		}

		@Override
		public DelayedTask<T> at(Instant due) {
			Assert.notNull(due, "The time must not be null");
			return schedule(DefaultDelayedTaskTemplate.this.tasks.clock().at(due));
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
			return handle(TaskSubmission.repeat(define(), this.key, this.ifPending, this.task, schedule, missed, null));
		}

		private DelayedTask<T> schedule(Deadline due) {
			if (this.maxWait != null) {
				Assert.isTrue(this.key != null && this.ifPending == IfPending.REPLACE,
						"A longest wait needs an id, and IfPending.REPLACE");
			}
			return handle(new TaskSubmission(define(), this.key, this.ifPending, this.maxWait, this.task, true)
				.schedule(due));
		}

		private TaskDefinition define() {
			return new Code(this.name, this.executor, this.callable);
		}

		@SuppressWarnings("unchecked")
		private DelayedTask<T> handle(@Nullable DelayedTask<?> task) {
			return (DelayedTask<T>) Objects.requireNonNull(task);
		}

	}

	/**
	 * Runs the code of the template. Its type does not tell, since it may be both a
	 * {@link Callable} and a {@link Runnable}.
	 */
	private final class Code extends TaskDefinition {

		private final boolean callable;

		Code(String name, Supplier<? extends Executor> executor, boolean callable) {
			super(DefaultDelayedTaskTemplate.this.tasks, name, executor, null);
			this.callable = callable;
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
		protected void handleError(Throwable error, Object task) {
			Method method = ClassUtils.getMethod(task.getClass(), this.callable ? "call" : "run");
			DefaultDelayedTaskTemplate.this.exceptionHandler.handleUncaughtException(error, method);
		}

		@Override
		protected boolean showsErrors() {
			return true;
		}

	}

	/** The durable tasks, as the template uses them. Thread-safe. */
	public interface Store {

		/** Whether a durable method of this application has a name or alias. */
		boolean owns(String name);

		List<DelayedTask<@Nullable Void>> enqueueAll(Collection<DurableCall> calls);

		DelayedTask<@Nullable Void> recur(TaskId id, Schedule schedule, @Nullable Object... arguments);

		/**
		 * Cancels a pending task of any node, or ends a schedule, with the transaction of
		 * the thread.
		 */
		boolean cancel(TaskId id);

		boolean reschedule(TaskId id, Duration delay);

		Optional<DelayedTask<?>> find(TaskId id);

	}

}

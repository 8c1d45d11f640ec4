package io.timingwheel.spring.task.memory;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.stream.Collectors;

import io.timingwheel.TimingWheel;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.internal.DeferredCall.Effect;
import io.timingwheel.spring.task.internal.DeferredCall;
import io.timingwheel.spring.task.internal.HandOverExecutors;
import io.timingwheel.spring.task.internal.PolicySettings;
import io.timingwheel.spring.task.internal.RunningBodies;
import io.timingwheel.spring.task.internal.TaskCounts;
import io.timingwheel.spring.task.internal.TaskExecutionInterceptor;
import io.timingwheel.spring.task.internal.TaskPolicies;
import io.timingwheel.spring.task.internal.TaskRecorder;
import io.timingwheel.spring.task.internal.Transactions;
import org.jspecify.annotations.Nullable;

import org.springframework.core.task.TaskDecorator;
import org.springframework.core.task.TaskRejectedException;

/**
 * Finds and counts the delayed tasks of one wheel, by their names. The template and the
 * advice use this registry; applications use {@link DelayedTaskOperations}.
 * {@link #memoryTasks()} reads single tasks for operators. Thread-safe.
 *
 * @since 0.1
 */
public final class DelayedTaskRegistry {

	/** The name of tasks whose user gives none. */
	public static final String UNNAMED = "unnamed";

	private final TaskEnvironment environment;

	private final TaskDirectory directory;

	private final MemoryTaskReader memoryTasks;

	/**
	 * Creates a registry.
	 * @param wheel the wheel
	 * @param clock the clocks of the wheel and of people
	 * @param handOverExecutors keeps executors from blocking the wheel
	 * @param decorator carries context from the thread that submits a task to its body;
	 * {@code null} for none
	 * @param interceptor is called around every body; {@code null} for none
	 * @param policies the policies of the names
	 */
	public DelayedTaskRegistry(TimingWheel wheel, TaskClock clock, HandOverExecutors handOverExecutors,
			@Nullable TaskDecorator decorator, @Nullable TaskExecutionInterceptor interceptor, TaskPolicies policies) {
		this.environment = new TaskEnvironment(wheel, clock, handOverExecutors, decorator, interceptor, policies);
		this.directory = this.environment.directory();
		this.memoryTasks = new MemoryTaskReader(this.directory, this.environment);
	}

	/**
	 * The clock that computes the deadlines of these tasks.
	 * @return the clock
	 */
	public TaskClock clock() {
		return this.environment.clock();
	}

	/**
	 * Makes a name known before its first task.
	 * @param name the name of tasks in memory
	 */
	public void declare(String name) {
		this.directory.declare(name);
	}

	/**
	 * Makes the name of a method known before its first task.
	 * @param name the name of its tasks
	 * @param policy the policy of its annotation
	 */
	public void declare(String name, PolicySettings policy) {
		policies().declare(name, policy);
		this.directory.declare(name).setPolicy(policies().of(name));
	}

	/**
	 * The policies of the names, those of durable tasks included.
	 * @return the policies
	 */
	public TaskPolicies policies() {
		return this.environment.policies();
	}

	/**
	 * The recorder of a name, which also counts stored tasks.
	 * @param name the name, which becomes known
	 * @return the recorder of the name
	 */
	public TaskRecorder recorder(String name) {
		return this.directory.register(name).recorder();
	}

	/**
	 * Whether tasks in memory have this name: it was declared, or a task has had it.
	 * @param name the name
	 * @return whether it is known
	 */
	public boolean isKnown(String name) {
		return this.directory.isDeclared(name);
	}

	/**
	 * Whether a task with a key is pending in memory.
	 * @param taskId its name and key
	 * @return whether there is one
	 */
	public boolean isPending(TaskId taskId) {
		NamedTasks tasks = this.directory.get(taskId.name());
		return tasks.pending().containsKey(TaskKeys.of(taskId.key()));
	}

	/**
	 * The tasks of a name. This call declares the name.
	 */
	NamedTasks tasksOf(String name) {
		return this.directory.declare(name);
	}

	/**
	 * Cancels the pending task with a key, at once. In a transaction this includes the
	 * task that an earlier call is going to schedule at the commit.
	 * @param taskId its name and key
	 * @return whether there was one
	 */
	public boolean cancel(TaskId taskId) {
		NamedTasks tasks = this.directory.get(taskId.name());
		Object slot = TaskKeys.of(taskId.key());
		boolean cancelled = tasks.cancel(slot);
		return (Transactions.hasDeferred() && Transactions.override(tasks.keyInTransaction(slot), Effect.CANCEL))
				|| cancelled;
	}

	/**
	 * Cancels the pending task with a key. In a transaction the task is cancelled after
	 * the commit, and a task that is submitted after this call stays.
	 * @param taskId its name and key
	 */
	public void cancelAfterCommit(TaskId taskId) {
		if (Transactions.isActive()) {
			Transactions.defer(cancelCall(taskId));
		}
		else {
			cancel(taskId);
		}
	}

	/**
	 * A cancellation for later. It takes the task with a key only if the task was
	 * submitted before this call.
	 * @param taskId its name and key
	 * @return cancels the task, if the task is still pending
	 */
	public Runnable cancellation(TaskId taskId) {
		return cancelCall(taskId)::commit;
	}

	private CancelCall cancelCall(TaskId taskId) {
		return new CancelCall(this.directory.get(taskId.name()), TaskKeys.of(taskId.key()));
	}

	/**
	 * Cancels a pending task.
	 * @param name its name
	 * @param keyOrId its key or, if no task has this key, its id
	 * @return whether there was one
	 */
	public boolean cancel(String name, String keyOrId) {
		NamedTasks tasks = this.directory.get(name);
		if (tasks.cancel(TaskKeys.of(keyOrId))) {
			return true;
		}
		long sequence = this.environment.sequenceOf(keyOrId);
		Object slot = this.memoryTasks.slotOf(tasks, sequence);
		return slot != null && tasks.cancel(slot, (task) -> task.sequence() == sequence);
	}

	/**
	 * Moves the pending task with a key.
	 * @param taskId its name and key
	 * @param delay how long from now; zero and negative: as soon as possible
	 * @return whether there was one
	 * @throws TaskRejectedException if the task waits for its executor and too many tasks
	 * are pending; the task then stays as it is
	 */
	public boolean reschedule(TaskId taskId, Duration delay) {
		NamedTasks tasks = this.directory.get(taskId.name());
		return tasks.reschedule(TaskKeys.of(taskId.key()), null, clock().after(delay));
	}

	/**
	 * Moves a pending task.
	 * @param name its name
	 * @param keyOrId its key or, if no task has this key, its id
	 * @param delay how long from now; zero and negative: as soon as possible
	 * @return whether there was one
	 * @throws TaskRejectedException if the task waits for its executor and too many tasks
	 * are pending; the task then stays as it is
	 */
	public boolean reschedule(String name, String keyOrId, Duration delay) {
		NamedTasks tasks = this.directory.get(name);
		Deadline due = clock().after(delay);
		if (tasks.reschedule(TaskKeys.of(keyOrId), null, due)) {
			return true;
		}
		long sequence = this.environment.sequenceOf(keyOrId);
		Object slot = this.memoryTasks.slotOf(tasks, sequence);
		return slot != null && tasks.reschedule(slot, due, (task) -> task.sequence() == sequence);
	}

	/**
	 * Finds the pending task with a key.
	 * @param taskId its name and key
	 * @return its handle, empty if there is none
	 */
	public Optional<DelayedTask<?>> find(TaskId taskId) {
		NamedTasks tasks = this.directory.get(taskId.name());
		return Optional.ofNullable(tasks.find(TaskKeys.of(taskId.key())));
	}

	/**
	 * Tells whether a task is pending that runs once and whose name is not paused.
	 * @return whether there is one
	 */
	public boolean hasPendingOnce() {
		return this.directory.all()
			.stream()
			.filter((tasks) -> !tasks.isPaused())
			.flatMap((tasks) -> tasks.pending().values().stream())
			.anyMatch((task) -> !task.isRepeating());
	}

	/**
	 * Finds the repeating tasks.
	 * @return the ids of those that are pending
	 */
	public Set<String> repeating() {
		return this.directory.all()
			.stream()
			.flatMap((tasks) -> tasks.pending().values().stream())
			.filter(PendingTask::isRepeating)
			.map((task) -> this.environment.idOf(task.sequence()))
			.collect(Collectors.toSet());
	}

	/**
	 * Cancels the pending tasks.
	 * @param except the ids of the tasks that stay
	 */
	public void cancelAll(Set<String> except) {
		for (NamedTasks tasks : this.directory.all()) {
			for (PendingTask task : tasks.pending().values()) {
				tasks.cancel(task.slot(), (current) -> !except.contains(this.environment.idOf(current.sequence())));
			}
		}
	}

	/**
	 * Forgets the starts that rates count, and ends the pauses that the policies do not
	 * ask for.
	 */
	public void resetLimits() {
		for (NamedTasks tasks : this.directory.all()) {
			StartGate gate = tasks.gate();
			if (gate != null) {
				gate.reset();
			}
		}
	}

	/**
	 * Computes by the wall clock again when the pending tasks are due, since somebody has
	 * set that clock.
	 */
	public void wallClockSet() {
		clock().synchronize();
		for (NamedTasks tasks : this.directory.all()) {
			for (Object slot : tasks.pending().keySet()) {
				tasks.pending().computeIfPresent(slot, (key, task) -> {
					task.wallClockSet();
					return task;
				});
			}
		}
	}

	/**
	 * The known names. A name becomes known when it is declared, when its recorder is
	 * used, or with its first task, and stays known.
	 * @return the names, sorted
	 */
	public List<String> names() {
		return this.directory.all().stream().map(NamedTasks::name).sorted().toList();
	}

	/**
	 * Calls a listener once for each name in {@link #names()}. The known names come at
	 * once. A later name comes when it becomes known, on the first thread that uses it.
	 * @param listener takes a name; must not schedule tasks
	 */
	public void onName(Consumer<String> listener) {
		this.directory.onName(listener);
	}

	/**
	 * The reader of the pending tasks: single ones, pages, and forecasts.
	 * @return always the same object
	 */
	public MemoryTaskReader memoryTasks() {
		return this.memoryTasks;
	}

	/**
	 * The figures of a name.
	 * @param name one of {@link #names()}
	 * @return the figures, all 0 if the name is not known
	 */
	public TaskCounts counts(String name) {
		return this.directory.get(name).counts();
	}

	/**
	 * Begins or ends a pause of a name: none of its tasks in memory starts during the
	 * pause. Bodies that run go on.
	 * @param name one of {@link #names()}
	 * @param paused whether to pause
	 * @return {@code false} if the name is not known
	 */
	public boolean setPaused(String name, boolean paused) {
		NamedTasks tasks = this.directory.get(name);
		if (!tasks.name().equals(name)) {
			return false;
		}
		tasks.setPaused(paused);
		return true;
	}

	/**
	 * Whether the tasks in memory of a name are paused.
	 * @param name the name
	 * @return whether none of them starts
	 */
	public boolean isPaused(String name) {
		return this.directory.get(name).isPaused();
	}

	/**
	 * How many tasks in memory of a name are due and held back by their policy. They
	 * count as pending too.
	 * @param name one of {@link #names()}
	 * @return the number
	 */
	public long waiting(String name) {
		return this.directory.get(name).waiting();
	}

	/**
	 * How many tasks in memory have not begun.
	 * @return the number over all names
	 */
	public long pendingCount() {
		return this.directory.pendingCount();
	}

	/**
	 * How many tasks have begun and not ended.
	 * @return the number over all names; may be too high for a moment, never too low
	 */
	public long runningCount() {
		return this.directory.runningCount();
	}

	/**
	 * The executor for what follows the completion of a future.
	 * @return the executor, which waits for no executor of the application
	 */
	public Executor completions() {
		return this.environment.handOvers().completions();
	}

	/**
	 * The object that ends these tasks when the application shuts down.
	 * @return the shutdown, always the same object
	 */
	public TaskShutdown atShutdown() {
		return this.environment.shutdown();
	}

	/**
	 * The threads that run bodies, also those of durable tasks.
	 * @return the threads
	 */
	public RunningBodies runningBodies() {
		return this.environment.bodies();
	}

	/**
	 * Cancels a task that was submitted before this call.
	 */
	private static final class CancelCall extends DeferredCall {

		private final NamedTasks tasks;

		private final Object slot;

		CancelCall(NamedTasks tasks, Object slot) {
			super(tasks.keyInTransaction(slot), Effect.CANCEL);
			this.tasks = tasks;
			this.slot = slot;
		}

		@Override
		protected void commit() {
			this.tasks.cancel(this.slot, (task) -> task.sequence() < sequence());
		}

	}

}

package io.timingwheel.spring.task.memory;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.timingwheel.TimingWheel;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.internal.HandOverExecutors;
import io.timingwheel.spring.task.internal.PolicySettings;
import io.timingwheel.spring.task.internal.TaskExecution;
import io.timingwheel.spring.task.internal.TaskPolicies;
import io.timingwheel.spring.task.internal.TaskRecorder;
import io.timingwheel.spring.task.internal.TaskRecorder.TaskCounts;
import io.timingwheel.spring.task.internal.Transactions;
import io.timingwheel.spring.task.internal.Transactions.DeferredCall;
import io.timingwheel.spring.task.internal.Transactions.DeferredCall.Effect;
import io.timingwheel.spring.task.internal.UserErrors;
import io.timingwheel.spring.task.memory.NamedTasks.TaskEnvironment;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.core.task.TaskDecorator;
import org.springframework.core.task.TaskRejectedException;

/** Finds and counts the tasks in memory, by their names. Thread-safe. */
public final class DelayedTaskRegistry {

	/** The name of tasks whose user gives none. */
	public static final String UNNAMED = "unnamed";

	private static final Predicate<PendingTask> ANY = (task) -> true;

	private static final Log logger = LogFactory.getLog(DelayedTaskRegistry.class);

	private final Map<String, NamedTasks> byName = new ConcurrentHashMap<>();

	private final List<Consumer<String>> listeners = new ArrayList<>();

	private final TaskEnvironment environment;

	/** Stands for each name that is not known, and never has a task. */
	private final NamedTasks unknown;

	public DelayedTaskRegistry(TimingWheel wheel, TaskClock clock, HandOverExecutors handOverExecutors,
			@Nullable TaskDecorator decorator, TaskExecution.@Nullable Interceptor interceptor, TaskPolicies policies) {
		this.environment = new TaskEnvironment(wheel, clock, handOverExecutors, decorator, interceptor, policies,
				new TaskShutdown(this));
		this.unknown = new NamedTasks("", this.environment);
	}

	/** The tasks of a name, none if the name is not known. */
	NamedTasks get(String name) {
		return this.byName.getOrDefault(name, this.unknown);
	}

	Collection<NamedTasks> all() {
		return this.byName.values();
	}

	Stream<PendingTask> pending() {
		return all().stream().flatMap((tasks) -> tasks.pending.values().stream());
	}

	/** The tasks of a name. This call declares the name. */
	NamedTasks tasksOf(String name) {
		NamedTasks tasks = register(name);
		// Each call of the template comes here, and all but the first only read.
		if (!tasks.declared) {
			tasks.declared = true;
		}
		return tasks;
	}

	private NamedTasks register(String name) {
		NamedTasks tasks = this.byName.get(name);
		return (tasks != null) ? tasks : add(name);
	}

	private synchronized NamedTasks add(String name) {
		NamedTasks known = this.byName.get(name);
		if (known != null) {
			return known;
		}
		NamedTasks tasks = new NamedTasks(name, this.environment);
		tasks.setPolicy(policies().of(name));
		this.byName.put(name, tasks);
		for (Consumer<String> listener : this.listeners) {
			try {
				listener.accept(name);
			}
			catch (Throwable ex) {
				// The name may belong to a task that has to be settled.
				UserErrors.log(logger::warn, "A listener for the names of tasks threw an exception for " + name, ex);
			}
		}
		return tasks;
	}

	public TaskClock clock() {
		return this.environment.clock();
	}

	public void declare(String name, PolicySettings policy) {
		policies().declare(name, policy);
		tasksOf(name).setPolicy(policies().of(name));
	}

	public TaskPolicies policies() {
		return this.environment.policies();
	}

	/** The recorder of a name, which also counts stored tasks. */
	public TaskRecorder recorder(String name) {
		return register(name).recorder;
	}

	/** Whether tasks in memory have this name: it was declared, or a task has had it. */
	public boolean isKnown(String name) {
		return get(name).declared;
	}

	/**
	 * Cancels the pending task with a key at once, and the task that an earlier call of
	 * the transaction is going to schedule.
	 */
	public boolean cancel(TaskId taskId) {
		NamedTasks tasks = get(taskId.name());
		Object slot = TaskKeys.of(taskId.key());
		boolean cancelled = tasks.cancel(slot, ANY);
		return (Transactions.hasDeferred() && Transactions.cancel(new TaskSubmission.TransactionKey(tasks, slot)))
				|| cancelled;
	}

	public void cancelAfterCommit(TaskId taskId) {
		if (!Transactions.isActive()) {
			cancel(taskId);
			return;
		}
		NamedTasks tasks = get(taskId.name());
		Object slot = TaskKeys.of(taskId.key());
		Transactions.defer(new DeferredCall(new TaskSubmission.TransactionKey(tasks, slot), Effect.CANCEL) {

			@Override
			public void commit() {
				tasks.cancel(slot, (task) -> task.sequence < sequence());
			}

		});
	}

	public boolean cancel(String name, String keyOrId) {
		PendingTask found = get(name).find(keyOrId);
		return found != null && get(name).cancel(found.slot, NamedTasks.with(keyOrId));
	}

	/**
	 * Moves the pending task with a key.
	 * @throws TaskRejectedException if the task waits for its executor and too many tasks
	 * are pending; so for a key or id
	 */
	public boolean reschedule(TaskId taskId, Duration delay) {
		return get(taskId.name()).reschedule(TaskKeys.of(taskId.key()), clock().after(delay), ANY);
	}

	public boolean reschedule(String name, String keyOrId, Duration delay) {
		PendingTask found = get(name).find(keyOrId);
		return found != null && get(name).reschedule(found.slot, clock().after(delay), NamedTasks.with(keyOrId));
	}

	public Optional<DelayedTask<?>> find(TaskId taskId) {
		return Optional.ofNullable(get(taskId.name()).read(TaskKeys.of(taskId.key()), (task) -> task.futureOrNew()));
	}

	/** Whether a task is pending that runs once and whose name is not paused. */
	public boolean hasPendingOnce() {
		return pending().anyMatch((task) -> task.repetition() == null && !task.tasks().gate.paused);
	}

	/** The sequences of the repeating tasks. */
	public Set<Long> repeating() {
		return pending().filter((task) -> task.repetition() != null)
			.map((task) -> task.sequence)
			.collect(Collectors.toSet());
	}

	public void cancelAll(Set<Long> except) {
		pending().forEach((task) -> task.tasks().cancel(task.slot, (current) -> !except.contains(current.sequence)));
	}

	/** Forgets the starts that rates count, and pauses that policies do not ask for. */
	public void resetLimits() {
		all().forEach((tasks) -> tasks.gate.countAnew(false));
	}

	/** Computes the due times of repeating tasks again: a test has set the wall clock. */
	public void wallClockSet() {
		pending().forEach((task) -> task.tasks().update(task, PendingTask::wallClockSet));
	}

	/** The names that were declared, whose recorder was used, or that had a task. */
	public List<String> names() {
		return all().stream().map((tasks) -> tasks.name).sorted().toList();
	}

	/** Calls a listener once for each name: at once, or on the thread that adds it. */
	public synchronized void onName(Consumer<String> listener) {
		this.byName.keySet().forEach(listener);
		this.listeners.add(listener);
	}

	public TaskCounts counts(String name) {
		return get(name).counts();
	}

	/** Begins or ends the pause of a name; {@code false} if the name is not known. */
	public boolean setPaused(String name, boolean paused) {
		NamedTasks tasks = this.byName.get(name);
		if (tasks != null) {
			tasks.gate.setPaused(paused);
		}
		return tasks != null;
	}

	public boolean isPaused(String name) {
		return get(name).gate.paused;
	}

	public long waiting(String name) {
		return get(name).gate.waiting();
	}

	public long pendingCount() {
		return all().stream().mapToLong(NamedTasks::pendingCount).sum();
	}

	public long runningCount() {
		return all().stream().mapToLong((tasks) -> tasks.recorder.running()).sum();
	}

	public Executor completions() {
		return this.environment.handOvers().completions();
	}

	public TaskShutdown atShutdown() {
		return this.environment.shutdown();
	}

}

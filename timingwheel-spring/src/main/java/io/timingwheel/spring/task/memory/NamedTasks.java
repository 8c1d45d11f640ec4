package io.timingwheel.spring.task.memory;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import java.util.function.Predicate;

import io.timingwheel.TimingWheel;
import io.timingwheel.spring.task.internal.HandOverExecutors;
import io.timingwheel.spring.task.internal.PolicySettings;
import io.timingwheel.spring.task.internal.TaskExecution;
import io.timingwheel.spring.task.internal.TaskLog;
import io.timingwheel.spring.task.internal.TaskPolicies;
import io.timingwheel.spring.task.internal.TaskRecorder;
import io.timingwheel.spring.task.internal.TaskRecorder.TaskCounts;
import io.timingwheel.spring.task.internal.TaskRecorder.TaskOutcome;
import io.timingwheel.spring.task.memory.TaskClock.Deadline;
import org.jspecify.annotations.Nullable;

import org.springframework.core.task.TaskDecorator;

/**
 * The tasks of one name: the pending ones by their {@linkplain TaskKeys slot}, and the
 * figures. Thread-safe.
 *
 * <p>
 * Every transition of a pending task is an operation of the map on its slot. Only one
 * thread can take a task out of the map (to begin, cancel or replace it), and the task
 * then belongs to this thread. A thread changes a task only while the map holds the lock
 * of the key. Under this lock it may call the wheel, which calls no other code under its
 * own locks.
 */
final class NamedTasks {

	final String name;

	final TaskEnvironment environment;

	final TaskRecorder recorder = new TaskRecorder();

	final TaskLog failedAttempts = new TaskLog(TaskRun.logger);

	final ConcurrentHashMap<Object, PendingTask> pending = new ConcurrentHashMap<>();

	/** How many repeating tasks run, and are in the map of the pending tasks too. */
	final LongAdder repeatingRuns = new LongAdder();

	/** Whether tasks in memory have this name, and not only stored ones. */
	volatile boolean declared;

	volatile PolicySettings policy = PolicySettings.NONE;

	final StartGate gate;

	NamedTasks(String name, TaskEnvironment environment) {
		this.name = name;
		this.environment = environment;
		this.gate = new StartGate(this);
	}

	TaskShutdown shutdown() {
		return this.environment.shutdown();
	}

	synchronized void setPolicy(PolicySettings policy) {
		if (!policy.equals(this.policy)) {
			this.policy = policy;
			this.gate.countAnew(this.gate.paused);
		}
	}

	TaskCounts counts() {
		return this.recorder.counts(pendingCount());
	}

	long pendingCount() {
		return Math.max(0, this.pending.mappingCount() - this.repeatingRuns.sum());
	}

	/** Changes or removes a task, if it is still in the map. */
	boolean update(PendingTask task, Predicate<PendingTask> stays) {
		return this.pending.computeIfPresent(task.slot,
				(slot, current) -> (current != task || stays.test(task)) ? current : null) == task;
	}

	/** Finds a task by its key or id. Another task may have its slot by now. */
	@Nullable PendingTask find(String keyOrId) {
		PendingTask byKey = this.pending.get(TaskKeys.of(keyOrId));
		return (byKey != null) ? byKey : this.pending.get(new SlotWith(this.pending, TaskKeys.Id.parse(keyOrId)));
	}

	static Predicate<PendingTask> with(String keyOrId) {
		Object slot = TaskKeys.of(keyOrId);
		long sequence = TaskKeys.Id.parse(keyOrId).sequence();
		return (task) -> task.slot.equals(slot) || task.sequence == sequence;
	}

	/** Reads a pending task under the lock of its key; {@code null} if there is none. */
	<T> @Nullable T read(Object slot, Function<PendingTask, @Nullable T> function) {
		AtomicReference<@Nullable T> result = new AtomicReference<>();
		this.pending.computeIfPresent(slot, (key, task) -> {
			result.setPlain(function.apply(task));
			return task;
		});
		return result.getPlain();
	}

	boolean cancel(Object slot, Predicate<PendingTask> condition) {
		PendingTask task = remove(slot, condition);
		if (task == null) {
			return false;
		}
		this.recorder.count(TaskOutcome.CANCELLED);
		if (task.future != null) {
			task.future.cancelled();
		}
		return true;
	}

	/** Cancels a task that became pending, if the shutdown may have missed it. */
	void cancelIfTooLate(Object slot, long sequence, long dueNanos) {
		if (!shutdown().mayRun(dueNanos)) {
			cancel(slot, (task) -> task.sequence == sequence);
		}
	}

	/**
	 * Cancels a pending task, since the application shuts down. A repeating task that
	 * runs is not pending: it ends with this run, and so does its future.
	 */
	boolean cancelAtShutdown(Object slot) {
		boolean cancelled = cancel(slot, (task) -> !task.isRunning());
		remove(slot, PendingTask::isRunning);
		return cancelled;
	}

	private @Nullable PendingTask remove(Object slot, Predicate<PendingTask> condition) {
		return change(slot, condition, (task) -> {
			task.withdraw();
			return null;
		});
	}

	/** A repeating task that runs is not pending, so it cannot be moved. */
	boolean reschedule(Object slot, Deadline due, Predicate<PendingTask> condition) {
		PendingTask task = change(slot, condition.and((current) -> !current.isRunning()), (current) -> {
			PendingTask moved = current.moveTo(due);
			moved.showDue();
			return moved;
		});
		if (task != null) {
			cancelIfTooLate(slot, task.sequence, due.dueNanos());
		}
		return task != null;
	}

	/** Gives the task before the change, {@code null} if there is none. */
	private @Nullable PendingTask change(Object slot, Predicate<PendingTask> condition,
			Function<PendingTask, @Nullable PendingTask> change) {
		AtomicReference<@Nullable PendingTask> before = new AtomicReference<>();
		this.pending.computeIfPresent(slot, (key, task) -> {
			if (!condition.test(task)) {
				return task;
			}
			before.setPlain(task);
			return change.apply(task);
		});
		return before.getPlain();
	}

	/** Equals the slot of the task with an id, and so finds the task in the map. */
	private record SlotWith(Map<Object, PendingTask> pending, TaskKeys.Id id) {

		@Override
		public boolean equals(@Nullable Object slot) {
			PendingTask task = (slot != null) ? this.pending.get(slot) : null;
			return task != null && task.sequence == this.id.sequence();
		}

		@Override
		public int hashCode() {
			return this.id.slotHash();
		}

	}

	/** What the tasks of all names share. */
	record TaskEnvironment(TimingWheel wheel, TaskClock clock, HandOverExecutors handOvers,
			@Nullable TaskDecorator decorator, TaskExecution.@Nullable Interceptor interceptor, TaskPolicies policies,
			TaskShutdown shutdown) {

	}

}

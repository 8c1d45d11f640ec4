package io.timingwheel.spring.task.memory;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Predicate;

import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DuplicateTaskException;
import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.internal.DeferredCall.Effect;
import io.timingwheel.spring.task.internal.DeferredCall;
import io.timingwheel.spring.task.internal.PolicySettings;
import io.timingwheel.spring.task.internal.TaskCounts;
import io.timingwheel.spring.task.internal.TaskOutcome;
import io.timingwheel.spring.task.internal.TaskRecorder;
import io.timingwheel.spring.task.internal.Transactions;
import org.jspecify.annotations.Nullable;

import org.springframework.core.task.TaskRejectedException;

/**
 * The tasks of one name: the pending ones by their key, and the figures. Thread-safe.
 *
 * <p>
 * Every transition of a pending task is an operation of the map on its key. Only one
 * thread can take a task out of the map (to begin, cancel, replace or expire it), and the
 * task then belongs to this thread. A thread changes a task only while the map holds the
 * lock of the key. Under this lock the thread may call the wheel, which takes the lock of
 * a shard. The wheel calls no other code under its locks.
 *
 * <p>
 * The map keeps a task under its slot, the form that {@link TaskKeys} gives its key.
 */
final class NamedTasks {

	private static final Predicate<PendingTask> ANY = (task) -> true;

	private final String name;

	private final TaskEnvironment environment;

	private final TaskRecorder recorder;

	private final ConcurrentHashMap<Object, PendingTask> pending = new ConcurrentHashMap<>();

	/** How many repeating tasks run, and are in the map of the pending tasks too. */
	private final LongAdder repeatingRuns = new LongAdder();

	private final ExpiryTimers expiryTimers = new ExpiryTimers(this);

	private volatile boolean declared;

	private volatile PolicySettings policy = PolicySettings.NONE;

	/** {@code null} if nothing limits the starts of these tasks. */
	private volatile @Nullable StartGate gate;

	NamedTasks(String name, TaskEnvironment environment) {
		this.name = name;
		this.environment = environment;
		this.recorder = new TaskRecorder(environment.shutdown()::changed);
	}

	String name() {
		return this.name;
	}

	TaskEnvironment environment() {
		return this.environment;
	}

	TaskRecorder recorder() {
		return this.recorder;
	}

	PolicySettings policy() {
		return this.policy;
	}

	/**
	 * Sets the policy. Tasks that have begun go on.
	 */
	synchronized void setPolicy(PolicySettings policy) {
		if (policy.equals(this.policy)) {
			return;
		}
		this.policy = policy;
		StartGate gate = this.gate;
		if (gate != null) {
			gate.setLimits(policy);
		}
		else if (policy.limitsStarts()) {
			this.gate = new StartGate(this, policy);
		}
	}

	@Nullable StartGate gate() {
		return this.gate;
	}

	/**
	 * Begins or ends a pause, during which no task starts.
	 */
	void setPaused(boolean paused) {
		StartGate gate = paused ? gateOrNew() : this.gate;
		if (gate != null) {
			gate.setPaused(paused);
		}
	}

	private synchronized StartGate gateOrNew() {
		StartGate gate = this.gate;
		if (gate == null) {
			gate = new StartGate(this, this.policy);
			this.gate = gate;
		}
		return gate;
	}

	boolean isPaused() {
		StartGate gate = this.gate;
		return gate != null && gate.isPaused();
	}

	/**
	 * How many of the pending tasks are due and held back by the policy.
	 */
	long waiting() {
		StartGate gate = this.gate;
		return (gate != null) ? gate.waiting() : 0;
	}

	ConcurrentHashMap<Object, PendingTask> pending() {
		return this.pending;
	}

	ExpiryTimers expiryTimers() {
		return this.expiryTimers;
	}

	/**
	 * Declares the name: tasks in memory may have this name from now on.
	 */
	void setDeclared() {
		if (!this.declared) {
			this.declared = true;
		}
	}

	boolean isDeclared() {
		return this.declared;
	}

	TaskCounts counts() {
		return this.recorder.counts(pendingCount());
	}

	long pendingCount() {
		return Math.max(0, this.pending.mappingCount() - this.repeatingRuns.sum());
	}

	void countRepeatingRun(int change) {
		this.repeatingRuns.add(change);
	}

	/**
	 * Schedules a task.
	 * @return the future of the task or, if a pending task stays in its place, the future
	 * of the pending task; {@code null} if the submission gives no result
	 * @throws DuplicateTaskException if another task is pending and the submission asks
	 * for rejection
	 * @throws TaskRejectedException after shutdown, or if too many tasks are pending
	 */
	@Nullable TaskFuture<?> schedule(TaskSubmission submission, Deadline due) {
		boolean afterOthers = submission.isKeyed() && Transactions.hasDeferred();
		DeferredCall earlier = afterOthers ? Transactions.latest(submission.keyInTransaction()) : null;
		if (earlier instanceof TaskSubmission waiting && !submission.replaces()) {
			return keep(waiting, submission);
		}
		if (earlier != null && earlier.effect() == Effect.CANCEL) {
			submission.setAbsentBefore(earlier.sequence());
		}
		TaskShutdown shutdown = this.environment.shutdown();
		shutdown.checkAccepting(submission.definition().name());
		// Finds the executor, so that a missing one fails here and not on the wheel's
		// thread.
		submission.definition().executor();
		this.pending.compute(submission.slot(), (slot, current) -> place(submission, current, due));
		if (afterOthers && submission.replaces()) {
			Transactions.override(submission.keyInTransaction(), Effect.REPLACE);
		}
		if (submission.hasGivenUp()) {
			submission.override(Effect.REPLACE);
		}
		if (submission.hasReplaced()) {
			this.recorder.count(TaskOutcome.REPLACED);
			submission.completeReplaced();
		}
		if (!shutdown.mayRun(due.dueNanos())) {
			// The shutdown may have visited this map before the task was in it.
			cancel(submission.slot(), (task) -> task.sequence() == submission.sequence());
		}
		return submission.future();
	}

	/**
	 * Leaves the task of an earlier call as it is, which waits for the commit.
	 */
	private static @Nullable TaskFuture<?> keep(TaskSubmission waiting, TaskSubmission later) {
		if (later.ifPending() == IfPending.REJECT) {
			throw duplicate(later);
		}
		return later.givesResult() ? waiting.futureOrNew() : null;
	}

	/**
	 * Decides, under the lock of the key, which task is pending from now on. If the
	 * shutdown has begun, the current task stays as it is.
	 */
	private PendingTask place(TaskSubmission submission, @Nullable PendingTask current, Deadline due) {
		this.environment.shutdown().checkAccepting(submission.definition().name());
		if (current == null) {
			return start(submission, submission.deadline(due, null), null);
		}
		if (submission.givesUpFor(current)) {
			return current;
		}
		if (submission.mayReplace(current)) {
			return replace(submission, current, submission.deadline(due, current));
		}
		if (submission.ifPending() == IfPending.REJECT) {
			throw duplicate(submission);
		}
		submission.yieldTo(current);
		return current;
	}

	private static DuplicateTaskException duplicate(TaskSubmission submission) {
		return new DuplicateTaskException(
				new TaskId(submission.definition().name(), String.valueOf(TaskKeys.text(submission.slot()))));
	}

	private PendingTask start(TaskSubmission submission, Deadline due, @Nullable PendingTask replaced) {
		PendingTask task = new PendingTask(submission.slot(), submission.definition());
		task.start(due);
		submission.assignTo(task, due, replaced);
		return task;
	}

	/**
	 * Schedules another attempt of a task that has failed, unless a newer task with its
	 * key is pending.
	 * @return whether the task is pending again
	 * @throws TaskRejectedException if too many tasks are pending
	 */
	boolean tryAgain(Object slot, TaskDefinition<?> definition, Attempt attempt, @Nullable TaskFuture<?> future,
			long sequence, Deadline due) {
		PendingTask task = new PendingTask(slot, definition);
		return this.pending.computeIfAbsent(slot, (key) -> {
			task.start(due);
			task.assign(attempt, future, sequence);
			return task;
		}) == task;
	}

	private PendingTask replace(TaskSubmission submission, PendingTask current, Deadline due) {
		TaskFuture<?> earlier = current.future();
		PendingTask task = current;
		if (current.move(submission.definition(), due)) {
			submission.assignTo(current, due, current);
		}
		else {
			// The current timer has fired. If the wheel refuses the new task, the
			// current task stays.
			task = start(submission, due, current);
			current.withdraw();
		}
		submission.replaces(earlier);
		return task;
	}

	/**
	 * Identifies the calls with a key among those that wait for a commit.
	 */
	Object keyInTransaction(Object slot) {
		return new KeyInTransaction(this, slot);
	}

	/**
	 * Removes a pending task, so that it never runs. Cancels the future of the task, if
	 * it has one.
	 * @param slot the slot of the task
	 * @return whether there was such a task
	 */
	boolean cancel(Object slot) {
		return cancel(slot, ANY);
	}

	/**
	 * Removes a pending task, so that it never runs. Cancels the future of the task, if
	 * it has one.
	 * @param slot the slot of the task
	 * @param expected the future that the task must have, {@code null} for any task
	 * @return whether there was such a task
	 */
	boolean cancel(Object slot, @Nullable TaskFuture<?> expected) {
		return cancel(slot, (task) -> expected == null || task.future() == expected);
	}

	/**
	 * Removes a pending task, so that it never runs. Cancels the future of the task, if
	 * it has one.
	 * @param slot the slot of the task
	 * @param condition a condition on the task, tested under the lock of its key
	 * @return whether there was such a task
	 */
	boolean cancel(Object slot, Predicate<PendingTask> condition) {
		return withdraw(slot, condition, TaskOutcome.CANCELLED, false);
	}

	/**
	 * Cancels a pending task, since the application shuts down. A repeating task that
	 * runs is not pending: it ends with this run, and so does its future.
	 * @return whether there was a pending task
	 */
	boolean cancelAtShutdown(Object slot) {
		return withdraw(slot, ANY, TaskOutcome.CANCELLED, true);
	}

	/**
	 * Removes a pending task that is too late to begin, and cancels its future.
	 */
	void expire(Object slot, long sequence) {
		withdraw(slot, (task) -> task.sequence() == sequence, TaskOutcome.EXPIRED, false);
	}

	private boolean withdraw(Object slot, Predicate<PendingTask> condition, TaskOutcome outcome, boolean atShutdown) {
		Withdrawal withdrawal = new Withdrawal(condition, atShutdown);
		this.pending.computeIfPresent(slot, withdrawal::apply);
		if (!withdrawal.done) {
			return false;
		}
		this.recorder.increment(outcome);
		if (withdrawal.future != null) {
			withdrawal.future.cancelled();
		}
		this.environment.shutdown().changed();
		return true;
	}

	/**
	 * Moves the deadline of a pending task.
	 * @param slot the slot of the task
	 * @param expected the future that the task must have, {@code null} for any task
	 * @param due the new deadline
	 * @return whether there was one
	 * @throws TaskRejectedException if the task waits for its executor and too many tasks
	 * are pending; the task then stays as it is
	 */
	boolean reschedule(Object slot, @Nullable TaskFuture<?> expected, Deadline due) {
		return reschedule(slot, due, (task) -> expected == null || task.future() == expected);
	}

	/**
	 * Moves the deadline of a pending task.
	 * @param slot the slot of the task
	 * @param due the new deadline
	 * @param condition a condition on the task, tested under the lock of its key
	 * @return whether there was one
	 * @throws TaskRejectedException if the task waits for its executor and too many tasks
	 * are pending; the task then stays as it is
	 */
	boolean reschedule(Object slot, Deadline due, Predicate<PendingTask> condition) {
		AtomicBoolean moved = new AtomicBoolean();
		this.pending.computeIfPresent(slot, (key, task) -> {
			if (!condition.test(task)) {
				return task;
			}
			PendingTask result = task.moveTo(due);
			TaskFuture<?> future = result.future();
			if (future != null) {
				future.setDue(result.dueEpochNanos());
			}
			moved.setPlain(true);
			return result;
		});
		if (moved.getPlain() && !this.environment.shutdown().mayRun(due.dueNanos())) {
			cancel(slot, condition);
		}
		return moved.getPlain();
	}

	/**
	 * Finds a pending task.
	 * @param slot the slot of the task
	 * @return the future of the task, made by this call if necessary; {@code null} if
	 * there is no task
	 */
	@Nullable DelayedTask<?> find(Object slot) {
		Lookup lookup = new Lookup();
		this.pending.computeIfPresent(slot, lookup::apply);
		return lookup.future;
	}

	private record KeyInTransaction(NamedTasks tasks, Object slot) {

	}

	/**
	 * Takes a task from the map and from the wheel.
	 */
	private static final class Withdrawal {

		private final Predicate<PendingTask> condition;

		private final boolean atShutdown;

		private @Nullable TaskFuture<?> future;

		private boolean done;

		Withdrawal(Predicate<PendingTask> condition, boolean atShutdown) {
			this.condition = condition;
			this.atShutdown = atShutdown;
		}

		@Nullable PendingTask apply(Object slot, PendingTask task) {
			if (!this.condition.test(task)) {
				return task;
			}
			this.future = task.future();
			this.done = !this.atShutdown || !task.isRunning();
			task.withdraw();
			return null;
		}

	}

	/**
	 * Gets the future of a task.
	 */
	private static final class Lookup {

		private @Nullable TaskFuture<?> future;

		PendingTask apply(Object slot, PendingTask task) {
			this.future = task.futureOrNew();
			return task;
		}

	}

}

package io.timingwheel.spring.task.support;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

/**
 * The tasks of one name: the pending ones by their key, and the figures.
 *
 * <p>
 * Every transition of a pending task is an operation of the map on its key: whoever takes
 * the task out of the map (beginning, cancelling, replacing, expiring) has it for
 * himself, and whoever changes it does so while the map holds the key's lock. Within such
 * an operation the wheel may be called, which takes the lock of a shard; the wheel calls
 * nobody under its locks.
 */
class NamedTasks implements TaskRecorder {

	private static final Predicate<PendingTask> ANY = (task) -> true;

	private final String name;

	private final DelayedTaskRegistry owner;

	private final ConcurrentHashMap<Object, PendingTask> pending = new ConcurrentHashMap<>();

	private final LongAdder begun = new LongAdder();

	private final LongAdder ended = new LongAdder();

	private final LongAdder completed = new LongAdder();

	private final LongAdder failed = new LongAdder();

	private final LongAdder cancelled = new LongAdder();

	private final LongAdder expired = new LongAdder();

	private final LongAdder replaced = new LongAdder();

	private final LongAdder superseded = new LongAdder();

	private volatile boolean declared;

	NamedTasks(String name, DelayedTaskRegistry owner) {
		this.name = name;
		this.owner = owner;
	}

	String name() {
		return this.name;
	}

	void declared() {
		if (!this.declared) {
			this.declared = true;
		}
	}

	boolean isDeclared() {
		return this.declared;
	}

	DelayedTaskRegistry owner() {
		return this.owner;
	}

	ConcurrentHashMap<Object, PendingTask> pending() {
		return this.pending;
	}

	/**
	 * Where a task with this key is kept.
	 */
	Object slot(String name, Object key) {
		return key;
	}

	/**
	 * Whether this task bears the name, which may be one of several that are kept here.
	 */
	boolean contains(String name, PendingTask task) {
		return true;
	}

	/**
	 * Takes a pending task away, so that it never runs.
	 * @param slot where it is kept
	 * @return whether there was one; its future, if it has one, is cancelled
	 */
	boolean cancel(Object slot) {
		return cancel(slot, ANY);
	}

	/**
	 * Takes a pending task away, so that it never runs.
	 * @param slot where it is kept
	 * @param expected the future that it must have, {@code null} for any task
	 * @return whether there was one; its future, if it has one, is cancelled
	 */
	boolean cancel(Object slot, @Nullable TaskFuture<?> expected) {
		return cancel(slot, (task) -> expected == null || task.future() == expected);
	}

	/**
	 * Takes a pending task away, so that it never runs.
	 * @param slot where it is kept
	 * @param condition asked under the lock of the key whether it is the one
	 * @return whether there was one; its future, if it has one, is cancelled
	 */
	boolean cancel(Object slot, Predicate<PendingTask> condition) {
		Withdrawal withdrawal = new Withdrawal(condition);
		this.pending.computeIfPresent(slot, withdrawal::apply);
		if (!withdrawal.done) {
			return false;
		}
		this.cancelled.increment();
		if (withdrawal.future != null) {
			withdrawal.future.cancelled();
		}
		this.owner.changed();
		return true;
	}

	/**
	 * Moves the deadline of a pending task.
	 * @param slot where it is kept
	 * @param expected the future that it must have, {@code null} for any task
	 * @param due the new deadline
	 * @return whether there was one
	 */
	boolean reschedule(Object slot, @Nullable TaskFuture<?> expected, Deadline due) {
		AtomicBoolean moved = new AtomicBoolean();
		this.pending.computeIfPresent(slot, (key, task) -> {
			if (expected != null && task.future() != expected) {
				return task;
			}
			PendingTask result = task.moveTo(due);
			TaskFuture<?> future = result.future();
			if (future != null) {
				future.setDue(due.epochNanos());
			}
			moved.setPlain(true);
			return result;
		});
		return moved.getPlain();
	}

	@Override
	public void begun() {
		this.begun.increment();
	}

	@Override
	public void ended(TaskOutcome outcome) {
		this.ended.increment();
		count(outcome);
	}

	@Override
	public void abandoned() {
		this.ended.increment();
		this.owner.changed();
	}

	@Override
	public void count(TaskOutcome outcome) {
		switch (outcome) {
			case COMPLETED -> this.completed.increment();
			case FAILED -> this.failed.increment();
			case CANCELLED -> this.cancelled.increment();
			case EXPIRED -> this.expired.increment();
			case REPLACED -> this.replaced.increment();
			case SUPERSEDED -> this.superseded.increment();
		}
		this.owner.changed();
	}

	long running() {
		// In this order the figure may be too high for a moment, but never too low.
		long ended = this.ended.sum();
		return this.begun.sum() - ended;
	}

	TaskCounts counts() {
		return new TaskCounts(this.pending.mappingCount(), running(), this.completed.sum(), this.failed.sum(),
				this.cancelled.sum(), this.expired.sum(), this.replaced.sum(), this.superseded.sum());
	}

	/**
	 * Removes a task from the map and from the wheel.
	 */
	private static final class Withdrawal {

		private final Predicate<PendingTask> condition;

		private @Nullable TaskFuture<?> future;

		private boolean done;

		Withdrawal(Predicate<PendingTask> condition) {
			this.condition = condition;
		}

		@Nullable PendingTask apply(Object slot, PendingTask task) {
			if (!this.condition.test(task)) {
				return task;
			}
			this.future = task.future();
			this.done = true;
			task.withdraw();
			return null;
		}

	}

}

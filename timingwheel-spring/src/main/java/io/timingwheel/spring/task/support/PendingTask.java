package io.timingwheel.spring.task.support;

import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

import io.timingwheel.RoutedTask;
import io.timingwheel.TimerHandle;
import org.jspecify.annotations.Nullable;

import org.springframework.core.task.TaskRejectedException;

/**
 * A pending task: what the wheel holds and, at the same time, the value of its key in
 * {@link NamedTasks#pending()}. As long as its timer is on the wheel a replacement moves
 * the timer and is written into the same object, so that a heartbeat makes no new objects
 * that live on. An object that is not (or no longer) in the map is dead, and running it
 * does nothing.
 *
 * <p>
 * All fields are guarded by the map's lock of the key. {@link #definition} is also read
 * by the wheel, to find the executor.
 */
final class PendingTask implements RoutedTask {

	private final Object slot;

	private volatile TaskDefinition<?> definition;

	private @Nullable TimerHandle timer;

	private @Nullable Object payload;

	/** Of a task whose result nobody can ask for there is none. */
	private @Nullable TaskFuture<?> future;

	private long sequence;

	private long dueNanos;

	private long dueEpochNanos;

	/**
	 * Creates a task that is not on the wheel yet.
	 */
	PendingTask(Object slot, TaskDefinition<?> definition) {
		this.slot = slot;
		this.definition = definition;
	}

	Object slot() {
		return this.slot;
	}

	TaskDefinition<?> definition() {
		return this.definition;
	}

	@Nullable TaskFuture<?> future() {
		return this.future;
	}

	/**
	 * The result, for somebody who asks for it only now.
	 */
	TaskFuture<?> futureOrNew() {
		TaskFuture<?> future = this.future;
		if (future == null) {
			future = new TaskFuture<>(this.definition.tasks(), this.definition.name(), this.slot, this.sequence,
					this.dueEpochNanos);
			this.future = future;
		}
		return future;
	}

	@Nullable Object payload() {
		return this.payload;
	}

	long sequence() {
		return this.sequence;
	}

	long dueNanos() {
		return this.dueNanos;
	}

	long dueEpochNanos() {
		return this.dueEpochNanos;
	}

	@Override
	public Executor executor() {
		return owner().handOver(this.definition.executor());
	}

	@Override
	public void run() {
		new TaskRun(this).run();
	}

	/**
	 * Says what to run, and for whom.
	 */
	void assign(Object payload, @Nullable TaskFuture<?> future, long sequence) {
		this.payload = payload;
		this.future = future;
		this.sequence = sequence;
	}

	/**
	 * Puts the task on the wheel.
	 * @throws TaskRejectedException if the wheel refuses
	 */
	void start(Deadline due) {
		try {
			this.timer = owner().wheel().schedule(this, due.delayNanos(), TimeUnit.NANOSECONDS);
		}
		catch (RejectedExecutionException ex) {
			throw new TaskRejectedException(
					"The task \"%s\" was not accepted: %s".formatted(this.definition.name(), ex.getMessage()), ex);
		}
		setDue(due);
	}

	/**
	 * Moves the timer, if it is on the wheel, for a task of another definition.
	 * @return {@code false} if the task was handed over and waits for its executor, or
	 * runs
	 */
	boolean move(TaskDefinition<?> definition, Deadline due) {
		TaskDefinition<?> former = this.definition;
		TimerHandle timer = this.timer;
		// Before the timer is moved, as that may be due at once. If it was handed over
		// already this object is about to die, and the executor does not matter.
		this.definition = definition;
		if (timer != null && timer.reschedule(due.delayNanos(), TimeUnit.NANOSECONDS)) {
			setDue(due);
			return true;
		}
		this.definition = former;
		return false;
	}

	/**
	 * Moves the task.
	 * @return this, or what is to take its place in the map as this was handed over
	 * @throws TaskRejectedException if the wheel refuses
	 */
	PendingTask moveTo(Deadline due) {
		if (move(this.definition, due)) {
			return this;
		}
		if (this.payload instanceof Repetition repetition && repetition.isRunning()) {
			setDue(due);
			repetition.moved();
			return this;
		}
		PendingTask next = new PendingTask(this.slot, this.definition);
		next.start(due);
		next.payload = this.payload;
		next.future = this.future;
		next.sequence = this.sequence;
		forget();
		return next;
	}

	/**
	 * Takes the timer off the wheel, when the map gives the task up.
	 */
	void withdraw() {
		TimerHandle timer = this.timer;
		if (timer != null) {
			timer.cancel();
		}
		forget();
	}

	/**
	 * Frees what the task holds: this object itself may still wait in the queue of an
	 * executor.
	 */
	void forget() {
		this.timer = null;
		this.payload = null;
		this.future = null;
	}

	private void setDue(Deadline due) {
		this.dueNanos = due.dueNanos();
		this.dueEpochNanos = due.epochNanos();
	}

	private DelayedTaskRegistry owner() {
		return this.definition.tasks().owner();
	}

}

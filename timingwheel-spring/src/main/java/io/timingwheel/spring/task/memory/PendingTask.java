package io.timingwheel.spring.task.memory;

import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

import io.timingwheel.RoutedTask;
import io.timingwheel.TimerHandle;
import io.timingwheel.TimingWheel;
import io.timingwheel.spring.task.memory.NamedTasks.TaskEnvironment;
import io.timingwheel.spring.task.memory.StartGate.Permits;
import io.timingwheel.spring.task.memory.TaskClock.Deadline;
import org.jspecify.annotations.Nullable;

import org.springframework.core.task.TaskRejectedException;

/**
 * A task that has not begun. {@link NamedTasks#pending()} has it under its slot, in one
 * of three states:
 *
 * <pre>
 *            due, with a permit                  the body begins
 * ON_WHEEL -------------------> HANDED_OVER -----------------------> GONE
 *  |    ^                         |                                   ^
 *  |    | it gets a permit        | the name is paused                |
 *  |    |                         v                                   |
 *  +--> WAITING <-----------------+             cancelled or replaced |
 *  due, without a permit                 (in any state) --------------+
 * </pre>
 *
 * A permit is needed only if the policy limits the starts of the name, or during a pause.
 * While the task is on the wheel without one, a replacement moves the timer and writes
 * into the same object, so that a heartbeat makes no new objects that stay in memory. A
 * replacement that is due no later also writes into a task that waits in the queue of its
 * executor: otherwise calls that never pause would put it off for ever. In the other
 * states another object takes its place. An object that is gone is no longer in the map,
 * and its {@code run} does nothing.
 *
 * <p>
 * Only this class writes to the fields, on a thread that holds the map's lock of the key.
 * The wheel reads the executor without the lock, and so do lists the due time.
 */
final class PendingTask implements RoutedTask {

	final Object slot;

	volatile TaskDefinition definition;

	/**
	 * The timer, an {@link Admission} once the gate has given a permit, or {@code null}.
	 */
	private @Nullable Object place;

	@Nullable Object payload;

	/** {@code null} until a caller asks for the result. */
	@Nullable TaskFuture<?> future;

	long sequence;

	long dueNanos;

	long dueEpochNanos;

	PendingTask(Object slot, TaskDefinition definition) {
		this.slot = slot;
		this.definition = definition;
	}

	NamedTasks tasks() {
		return this.definition.tasks;
	}

	TaskFuture<?> futureOrNew() {
		TaskFuture<?> future = this.future;
		if (future == null) {
			future = new TaskFuture<>(tasks(), this.slot, this.sequence, this.dueEpochNanos);
			this.future = future;
		}
		return future;
	}

	@Nullable Repetition repetition() {
		return (this.payload instanceof Repetition repetition) ? repetition : null;
	}

	boolean isRunning() {
		return this.payload instanceof Repetition repetition && repetition.running;
	}

	Deadline deadline() {
		long now = environment().clock().nanoTime();
		return new Deadline(now, this.dueNanos - now, this.dueNanos, this.dueEpochNanos, false);
	}

	@Override
	public Executor executor() {
		return this.definition.executor();
	}

	@Override
	public boolean handOver(Executor executor, Runnable timer) {
		StartGate gate = tasks().gate;
		if (gate.mayHoldBack() && !gate.admit(this)) {
			return false;
		}
		environment().handOvers().handOver(executor, timer, (failure) -> new TaskRun(this).run(failure));
		return true;
	}

	@Override
	public void run() {
		StartGate gate = tasks().gate;
		if (gate.paused || environment().handOvers().isPaused()) {
			gate.letWait(this);
		}
		else {
			new TaskRun(this).run(null);
		}
	}

	void assign(Object payload, @Nullable TaskFuture<?> future, long sequence) {
		this.payload = payload;
		this.future = future;
		this.sequence = sequence;
	}

	void start(Deadline due) {
		try {
			TimingWheel wheel = environment().wheel();
			// The deadline comes from a reading of the wheel's clock, so that another one
			// is not needed. A task without a delay does not wait for the next tick.
			this.place = (due.delayNanos() > 0) ? wheel.scheduleAt(this, due.dueNanos())
					: wheel.schedule(this, 0, TimeUnit.NANOSECONDS);
		}
		catch (RejectedExecutionException ex) {
			throw new TaskRejectedException(
					"The task \"%s\" was not accepted: %s".formatted(tasks().name, ex.getMessage()), ex);
		}
		setDue(due);
		showDue();
	}

	/**
	 * Gives a task that has waited a permit, and puts it back on the wheel, due now;
	 * {@code false} if the wheel is full.
	 */
	boolean callUp(Permits permits) {
		setPermits(permits);
		try {
			this.place = new Admission(permits, environment().wheel().schedule(this, 0, TimeUnit.NANOSECONDS));
			return true;
		}
		catch (RejectedExecutionException ex) {
			return false;
		}
	}

	/** The permit that this task has, as the counts that it is taken from. */
	@Nullable Permits permits() {
		return (this.place instanceof Admission admission) ? admission.permits() : null;
	}

	void setPermits(@Nullable Permits permits) {
		TimerHandle timer = (this.place instanceof TimerHandle handle) ? handle : null;
		this.place = (permits != null) ? new Admission(permits, timer) : null;
	}

	/**
	 * Moves the timer, if it is on the wheel without a permit, for a task of another
	 * definition. {@code true} also if the task keeps its turn at its executor.
	 */
	boolean move(TaskDefinition definition, Deadline due) {
		if (!(this.place instanceof TimerHandle timer)) {
			return false;
		}
		TaskDefinition former = this.definition;
		// The definition comes first, since the timer may fire right after the move. If
		// the timer has fired already, the task is with the executor of the former one.
		this.definition = definition;
		boolean moved = (due.delayNanos() > 0) ? timer.rescheduleAt(due.dueNanos())
				: timer.reschedule(0, TimeUnit.NANOSECONDS);
		// A task that waits for its executor keeps its turn if it would be due no later.
		if (moved || (due.dueNanos() - this.dueNanos <= 0 && executor() == former.executor()
				&& !tasks().gate.mayHoldBack())) {
			setDue(due);
			return true;
		}
		this.definition = former;
		return false;
	}

	/**
	 * Moves the task, which another object may replace.
	 * @throws TaskRejectedException if the wheel refuses
	 */
	PendingTask moveTo(Deadline due) {
		// A task that is due and starts as soon as the policy allows keeps its place.
		if (move(this.definition, due) || (due.delayNanos() <= 0 && tasks().gate.mayHoldBack())) {
			return this;
		}
		PendingTask next = new PendingTask(this.slot, this.definition);
		next.start(due);
		next.assign(Objects.requireNonNull(this.payload), this.future, this.sequence);
		withdraw();
		return next;
	}

	/** Takes a task that leaves the map from the wheel and from the gate. */
	void withdraw() {
		TimerHandle timer = (this.place instanceof Admission admission) ? admission.timer() : (TimerHandle) this.place;
		if (timer != null) {
			timer.cancel();
		}
		tasks().gate.withdraw(this);
		forget();
	}

	/** The object may stay in the queue of an executor. */
	void forget() {
		if (this.payload instanceof Repetition repetition) {
			repetition.setRunning(false);
		}
		this.place = null;
		this.payload = null;
	}

	boolean wallClockSet() {
		Repetition repetition = repetition();
		if (repetition != null && !repetition.running && move(this.definition, repetition.dueAnew(this))) {
			showDue();
		}
		return true;
	}

	private void setDue(Deadline due) {
		this.dueNanos = due.dueNanos();
		this.dueEpochNanos = due.epochNanos();
	}

	void showDue() {
		if (this.future != null) {
			this.future.setDue(this.dueEpochNanos);
		}
	}

	private TaskEnvironment environment() {
		return tasks().environment;
	}

	/**
	 * @param timer the timer of a task that is on the wheel again: the gate has called it
	 * up, or its executor has refused it
	 */
	private record Admission(Permits permits, @Nullable TimerHandle timer) {

	}

}

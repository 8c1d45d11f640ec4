package io.timingwheel.spring.task.memory;

import java.time.Instant;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

import io.timingwheel.RoutedTask;
import io.timingwheel.TimerHandle;
import io.timingwheel.TimingWheel;
import io.timingwheel.spring.task.internal.HandOverExecutors;
import io.timingwheel.spring.task.memory.StartGate.Permit;
import org.jspecify.annotations.Nullable;

import org.springframework.core.task.TaskRejectedException;

/**
 * A task that has not begun. The wheel holds the task, and {@link NamedTasks#pending()}
 * has it under its slot. While the timer is on the wheel, a replacement moves the timer
 * and writes into the same object. A heartbeat therefore makes no new objects that stay
 * in memory. An object that is no longer in the map is dead, and its {@code run} does
 * nothing.
 *
 * <p>
 * The map's lock of the key guards all fields. The wheel also reads {@link #definition},
 * to find the executor.
 */
final class PendingTask implements RoutedTask {

	private final Object slot;

	private volatile TaskDefinition<?> definition;

	private @Nullable TimerHandle timer;

	private @Nullable Object payload;

	/** {@code null} until a caller asks for the result. */
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
	 * The future of the task. This call makes the future if there is none yet.
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

	/**
	 * The text of the schedule, {@code null} for none.
	 */
	@Nullable String schedule() {
		return (this.payload instanceof Repetition repetition) ? repetition.schedule().toString() : null;
	}

	/**
	 * When the next regular run is due, by the wall clock.
	 * @return the time; {@code null} without a schedule, or if this depends on the end of
	 * the present run
	 */
	@Nullable Instant next() {
		return (this.payload instanceof Repetition repetition) ? repetition.regularTime(this, environment().clock())
				: null;
	}

	boolean isRepeating() {
		return this.payload instanceof Repetition;
	}

	/**
	 * Whether a run of this repeating task is under way.
	 */
	boolean isRunning() {
		return this.payload instanceof Repetition repetition && repetition.isRunning();
	}

	long dueNanos() {
		return this.dueNanos;
	}

	/**
	 * When the task is due, which may be in the past.
	 */
	Deadline deadline() {
		return new Deadline(this.dueNanos - environment().clock().nanoTime(), this.dueNanos, this.dueEpochNanos, false);
	}

	long dueEpochNanos() {
		return this.dueEpochNanos;
	}

	@Override
	public Executor executor() {
		return this.definition.executor();
	}

	/**
	 * Hands the expired timer of this task over to the executor of its body, unless the
	 * policy of its name lets the task wait.
	 */
	@Override
	public boolean handOver(Executor executor, Runnable timer) {
		this.definition.tasks().expiryTimers().start(this);
		StartGate gate = gate();
		if (gate == null) {
			environment().handOvers().handOver(executor, timer, (error) -> fail(error, null));
			return true;
		}
		Permit permit = gate.admit(this);
		if (permit != null) {
			handOver(executor, permit);
		}
		return permit != null;
	}

	/**
	 * Hands this task over with a permit to start. The permit begins only once, as the
	 * timer does.
	 */
	void handOver(Executor executor, Permit permit) {
		try {
			environment().handOvers().handOver(executor, permit, (error) -> fail(error, permit));
		}
		catch (RejectedExecutionException ex) {
			permit.keep();
			throw ex;
		}
	}

	/**
	 * Ends the task with an exception that came before its body.
	 */
	private void fail(Throwable error, @Nullable Permit permit) {
		if (permit == null || permit.begin()) {
			new TaskRun(this, permit).run(error);
		}
	}

	@Override
	public void run() {
		run(null);
	}

	void run(@Nullable Permit permit) {
		HandOverExecutors handOvers = environment().handOvers();
		if (handOvers.isPaused() && handOvers.holdBack(this.definition.executor(), (permit != null) ? permit : this,
				(error) -> fail(error, permit))) {
			return;
		}
		if (permit != null && !permit.begin()) {
			return;
		}
		StartGate gate = gate();
		if (gate != null && gate.isPaused()) {
			gate.letWait(this, permit);
		}
		else {
			new TaskRun(this, permit).run(null);
		}
	}

	/**
	 * Puts this task back on the wheel, due now, since it may start.
	 * @return {@code false} if somebody has taken it out of the map
	 * @throws RejectedExecutionException if the wheel refuses
	 */
	boolean callUp() {
		return this.definition.tasks().pending().computeIfPresent(this.slot, (slot, current) -> {
			if (current == this) {
				this.timer = environment().wheel().schedule(this, 0, TimeUnit.NANOSECONDS);
			}
			return current;
		}) == this;
	}

	/**
	 * Sets what to run and which future gets the result.
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
			TimingWheel wheel = environment().wheel();
			// The deadline comes from a reading of the wheel's clock, so that another one
			// is not needed. A task without a delay does not wait for the next tick.
			this.timer = (due.delayNanos() > 0) ? wheel.scheduleAt(this, due.dueNanos())
					: wheel.schedule(this, 0, TimeUnit.NANOSECONDS);
		}
		catch (RejectedExecutionException ex) {
			throw new TaskRejectedException(
					"The task \"%s\" was not accepted: %s".formatted(this.definition.name(), ex.getMessage()), ex);
		}
		setDue(due);
	}

	/**
	 * Moves the timer for a task of another definition, if the timer is on the wheel.
	 * @return {@code false} if the timer has fired: the task waits for its policy or its
	 * executor, or runs
	 */
	boolean move(TaskDefinition<?> definition, Deadline due) {
		TaskDefinition<?> former = this.definition;
		TimerHandle timer = this.timer;
		// The definition comes first, since the timer may fire right after the move. If
		// the timer has fired already, another object replaces this one, and the executor
		// of this one does not matter.
		this.definition = definition;
		StartGate gate = gate();
		if (timer != null && (gate == null || !gate.isCalledUp(this)) && move(timer, due)) {
			setDue(due);
			return true;
		}
		this.definition = former;
		return false;
	}

	private static boolean move(TimerHandle timer, Deadline due) {
		return (due.delayNanos() > 0) ? timer.rescheduleAt(due.dueNanos()) : timer.reschedule(0, TimeUnit.NANOSECONDS);
	}

	/**
	 * Moves the task.
	 * @return this task or, if its timer has fired, the task that replaces it in the map
	 * @throws TaskRejectedException if the wheel refuses
	 */
	PendingTask moveTo(Deadline due) {
		if (move(this.definition, due)) {
			return this;
		}
		if (!isRunning() && due.delayNanos() <= 0 && gate() != null) {
			// The task is due and starts as soon as the policy allows. It keeps its
			// place.
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
		withdraw();
		return next;
	}

	/**
	 * Cancels the timer of a task that leaves the map, and lets the gate forget the task.
	 */
	void withdraw() {
		if (this.timer != null) {
			this.timer.cancel();
		}
		StartGate gate = gate();
		if (gate != null) {
			gate.withdraw(this);
		}
		forget();
	}

	/**
	 * Clears the references of this object, which may stay in the queue of an executor.
	 */
	void forget() {
		this.definition.tasks().expiryTimers().stop(this.sequence);
		if (this.payload instanceof Repetition repetition) {
			repetition.setRunning(this, false);
		}
		this.timer = null;
		this.payload = null;
		this.future = null;
	}

	/**
	 * Computes by the wall clock again when the task is due.
	 */
	void wallClockSet() {
		TaskClock clock = environment().clock();
		if (!(this.payload instanceof Repetition repetition) || !repetition.wallClockSet(this, clock)) {
			long now = clock.nanoTime();
			this.dueEpochNanos = TaskClock.add(clock.epochNanos(now), this.dueNanos - now);
		}
		if (this.future != null) {
			this.future.setDue(this.dueEpochNanos);
		}
	}

	private void setDue(Deadline due) {
		this.dueNanos = due.dueNanos();
		this.dueEpochNanos = due.epochNanos();
	}

	private @Nullable StartGate gate() {
		return this.definition.tasks().gate();
	}

	private TaskEnvironment environment() {
		return this.definition.tasks().environment();
	}

}

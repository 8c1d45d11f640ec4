package io.timingwheel.spring.durable.support;

import java.lang.reflect.Method;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.Executor;
import java.util.function.LongSupplier;

import io.timingwheel.RoutedTask;
import io.timingwheel.TimerHandle;
import io.timingwheel.spring.durable.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.DueTime;
import io.timingwheel.spring.durable.LeasedTask;
import io.timingwheel.spring.durable.NextRun;
import io.timingwheel.spring.durable.TaskRef;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.internal.RunningBodies;
import io.timingwheel.spring.task.internal.TaskExecution;
import io.timingwheel.spring.task.internal.TaskRecorder;
import org.jspecify.annotations.Nullable;

/**
 * A leased task while this node holds it. The task waits on the wheel until it is due,
 * begins, runs on its executor, and is settled.
 *
 * <p>
 * The monitor of this object guards its state. No thread holds the monitor while it calls
 * the store or a body.
 */
final class DurableRun implements RoutedTask, TaskExecution {

	private final LeasedTask task;

	private final DurableHandler handler;

	private final TaskRunner runner;

	private final Lane lane;

	private final long dueNanos;

	private final @Nullable RecurringRun recurring;

	private State state = State.WAITING;

	private @Nullable TimerHandle timer;

	private @Nullable Thread thread;

	private Interruption interruption = Interruption.NONE;

	private volatile LeaseTerm term = LeaseTerm.NONE;

	/** When the task has begun, by the clock of the lane. */
	private long begunAt;

	/** When the body has started, by the clock of the wheel. */
	private long startedNanos;

	private long latenessNanos;

	private @Nullable Object @Nullable [] arguments;

	private @Nullable Reply reply;

	/** Whether the store found the task too late to start. */
	private volatile boolean expired;

	private boolean endLost;

	private int lostEnds;

	/**
	 * Creates a run.
	 * @param task the task
	 * @param handler its handler
	 * @param runner runs its body
	 * @param lane the tasks of its name
	 * @param dueNanos its due time, by the clock of the wheel
	 */
	DurableRun(LeasedTask task, DurableHandler handler, TaskRunner runner, Lane lane, long dueNanos) {
		this.task = task;
		this.handler = handler;
		this.runner = runner;
		this.lane = lane;
		this.dueNanos = dueNanos;
		this.recurring = RecurringRun.of(task, handler);
	}

	LeasedTask task() {
		return this.task;
	}

	TaskRef ref() {
		return this.task.ref();
	}

	DurableHandler handler() {
		return this.handler;
	}

	Lane lane() {
		return this.lane;
	}

	LeaseTerm term() {
		return this.term;
	}

	/**
	 * How long the task waits on the wheel, in nanoseconds.
	 * @param now the time by the clock of the wheel
	 */
	long delayNanos(long now) {
		return Math.max(0, this.dueNanos - now);
	}

	/**
	 * Remembers the timer of the task, so that {@link #withdraw()} can cancel the timer.
	 */
	synchronized void waitsFor(TimerHandle timer) {
		if (this.state == State.WAITING) {
			this.timer = timer;
		}
		else {
			timer.cancel();
		}
	}

	synchronized boolean isWaiting() {
		return this.state == State.WAITING;
	}

	/**
	 * Records that the store has begun the task.
	 * @param term how long the node trusts the lease
	 * @return whether the task goes to its executor; {@code false} if it was withdrawn
	 */
	synchronized boolean begin(LeaseTerm term) {
		if (this.state != State.WAITING) {
			return false;
		}
		this.term = term;
		this.state = State.BEGUN;
		this.begunAt = this.lane.begun();
		this.timer = null;
		return true;
	}

	void renewed(LeaseTerm term) {
		this.term = term;
	}

	/**
	 * Tells whether the node has to renew the lease.
	 */
	synchronized boolean isHeld() {
		return this.state == State.BEGUN || this.state == State.RUNNING || this.state == State.SETTLING;
	}

	/**
	 * Takes the task away before its body runs.
	 * @return {@code false} if its body runs already, or the node no longer has the task
	 */
	synchronized boolean withdraw() {
		if (this.state != State.WAITING && this.state != State.BEGUN) {
			return false;
		}
		leave();
		if (this.timer != null) {
			this.timer.cancel();
			this.timer = null;
		}
		return true;
	}

	/**
	 * Takes the task away, and interrupts its body, since another node may have the task.
	 * @return {@code false} if the body has ended already, or the node no longer has the
	 * task
	 */
	synchronized boolean loseLease() {
		if (this.state != State.BEGUN && this.state != State.RUNNING) {
			return false;
		}
		interrupt(Interruption.LEASE_LOST);
		leave();
		return true;
	}

	private void leave() {
		if (this.state == State.BEGUN) {
			this.lane.dropped();
		}
		this.state = State.GONE;
	}

	/**
	 * Interrupts the body, so that the node can release the task.
	 * @return {@code false} if no body runs
	 */
	synchronized boolean cutOff() {
		if (this.state != State.RUNNING || !delaysShutdown()) {
			return false;
		}
		interrupt(Interruption.SHUTDOWN);
		return true;
	}

	private void interrupt(Interruption reason) {
		if (this.thread != null) {
			this.interruption = reason;
			this.thread.interrupt();
		}
	}

	synchronized boolean isRunning() {
		return this.thread != null;
	}

	/**
	 * Whether the shutdown has to wait for the body. It must not wait for a body that
	 * waits for the end of the application itself.
	 */
	synchronized boolean delaysShutdown() {
		return this.thread != null && !RunningBodies.waitsForEnd(this.thread);
	}

	@Override
	public Executor executor() {
		return this.handler.executor().get();
	}

	@Override
	public boolean handOver(Executor executor, Runnable timer) {
		return this.runner.handOver(this, executor, timer);
	}

	@Override
	public void run() {
		this.runner.run(this);
	}

	/**
	 * Marks the task as running on the current thread.
	 * @param now the time by the clock of the wheel
	 * @return {@code false} if the task was taken away before
	 */
	synchronized boolean start(long now) {
		if (this.state != State.BEGUN) {
			return false;
		}
		this.state = State.RUNNING;
		this.lane.started(this.begunAt);
		this.thread = Thread.currentThread();
		this.startedNanos = now;
		this.latenessNanos = Math.max(0, now - this.dueNanos);
		return true;
	}

	/**
	 * Reports the times of this run, which has ended.
	 */
	void recordTimes(TaskRecorder recorder, LongSupplier clock) {
		recorder.executed(this.latenessNanos, this.startedNanos, clock);
	}

	/**
	 * Whether the task is too late to start.
	 * @param now the time by the clock of the wheel
	 * @param missedAfter from which lateness on the run of a schedule counts as missed
	 */
	boolean isExpired(long now, Duration missedAfter) {
		Duration lateness = Duration.ofNanos(Math.max(0, now - this.dueNanos));
		Duration expireAfter = this.handler.expireAfter();
		return this.expired || (expireAfter != null && lateness.compareTo(expireAfter) > 0) || (this.recurring != null
				&& attempt() == 1 && deliveries() == 1 && this.recurring.isSkipped(lateness, missedAfter));
	}

	/**
	 * Marks a task that the store found too late to start, and did not count for the
	 * limits of its name. The task must not start, whatever the clock of this node says.
	 */
	void setExpired() {
		this.expired = true;
	}

	/**
	 * Whether the store found the task too late to start.
	 */
	boolean hasExpired() {
		return this.expired;
	}

	boolean isRecurring() {
		return this.recurring != null;
	}

	/**
	 * This run by its schedule, {@code null} if the task is not recurring.
	 */
	@Nullable RecurringRun recurring() {
		return this.recurring;
	}

	/**
	 * The end of this run of a recurring task, with the time of the next.
	 * @param error why the run is given up, {@code null} if it is not
	 * @return {@code null} if the task is not recurring
	 */
	@Nullable NextRun nextRun(@Nullable String error) {
		return (this.recurring != null) ? this.recurring.next(lateness(), now(), error) : null;
	}

	/**
	 * The time to the next run, in milliseconds.
	 */
	long millisTo(NextRun next) {
		DueTime due = next.due();
		long now = now().toEpochMilli();
		return (due != null) ? due.resolve(now) - now : Long.MAX_VALUE;
	}

	/**
	 * The time by the store's clock, as this node estimates it.
	 */
	private Instant now() {
		return Instant.ofEpochMilli(this.task.dueAt()).plusNanos(this.runner.nanoTime() - this.dueNanos);
	}

	void setArguments(@Nullable Object[] arguments) {
		this.arguments = arguments;
	}

	@Nullable Object @Nullable [] arguments() {
		return this.arguments;
	}

	/**
	 * Marks the body as ended before its transaction ends. From now on this object
	 * interrupts the thread no more.
	 */
	synchronized void endBody() {
		if (this.interruption != Interruption.NONE) {
			Thread.interrupted();
		}
		if (this.state == State.RUNNING) {
			this.state = State.SETTLING;
		}
	}

	/**
	 * Begins or ends a delivery whose end gets lost. The next delivery may follow.
	 */
	synchronized void loseEnd(boolean lost) {
		this.endLost = lost;
		if (!lost) {
			this.lostEnds++;
			this.state = (this.state == State.SETTLING) ? State.RUNNING : this.state;
		}
	}

	boolean isEndLost() {
		return this.endLost;
	}

	/**
	 * Records the reply to an acknowledgement in the transaction of the body.
	 */
	void replied(Reply reply) {
		this.reply = reply;
	}

	/**
	 * The reply to the acknowledgement in the transaction of the body.
	 * @return {@link Reply#DONE} if the transaction has committed, {@link Reply#REFUSED}
	 * if it was rolled back because the node no longer has the task, {@code null} if the
	 * task is not acknowledged
	 */
	@Nullable Reply reply() {
		return this.reply;
	}

	/**
	 * Marks the body as ended, and clears an interrupt by this object. This object
	 * interrupts only under the monitor and while a body runs, so that no interrupt
	 * outlives its body.
	 * @return why the body was interrupted
	 */
	synchronized Interruption end() {
		this.thread = null;
		if (this.interruption != Interruption.NONE) {
			Thread.interrupted();
		}
		if (this.state == State.RUNNING || this.state == State.SETTLING) {
			this.state = State.SETTLING;
			return this.interruption;
		}
		return Interruption.LEASE_LOST;
	}

	@Override
	public @Nullable Object proceed() throws Throwable {
		@Nullable Object[] arguments = this.arguments;
		if (arguments == null) {
			throw new IllegalStateException("The task has no arguments yet");
		}
		TransactionalBodies transactions = this.handler.transactions();
		return (transactions != null) ? transactions.run(this, () -> this.handler.invoke(arguments))
				: this.handler.invoke(arguments);
	}

	@Override
	public String name() {
		return this.handler.name();
	}

	@Override
	public String id() {
		return this.task.id();
	}

	@Override
	public @Nullable TaskId taskId() {
		String key = this.task.key();
		return (key != null) ? new TaskId(name(), key) : null;
	}

	@Override
	public Instant dueAt() {
		return (this.recurring != null) ? this.recurring.dueAt() : Instant.ofEpochMilli(this.task.dueAt());
	}

	@Override
	public Duration lateness() {
		return Duration.ofNanos(this.latenessNanos);
	}

	@Override
	public int attempt() {
		return this.task.attempt();
	}

	@Override
	public int deliveries() {
		return this.task.deliveries() + (this.task.begun() ? 0 : 1) + this.lostEnds;
	}

	@Override
	public @Nullable String traceparent() {
		return this.task.traceparent();
	}

	@Override
	public Method method() {
		return this.handler.method();
	}

	@Override
	public String toString() {
		String key = this.task.key();
		return "\"" + name() + ((key != null) ? "/" + key : "") + "\" (id " + id() + ")";
	}

	private enum State {

		/** The task is on the wheel, or waits for the store to begin it. */
		WAITING,

		/** The store has begun the task, which waits for its executor. */
		BEGUN,

		/** The body runs. */
		RUNNING,

		/** The body has ended, and its transaction or the store does not know yet. */
		SETTLING,

		/** The node no longer has the task. */
		GONE

	}

	/**
	 * Why this node interrupted a body.
	 */
	enum Interruption {

		NONE, LEASE_LOST, SHUTDOWN

	}

}

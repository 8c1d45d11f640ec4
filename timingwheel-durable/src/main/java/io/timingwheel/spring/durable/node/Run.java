package io.timingwheel.spring.durable.node;

import java.lang.reflect.Method;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.concurrent.Executor;

import io.timingwheel.RoutedTask;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.store.LeasedTask;
import io.timingwheel.spring.durable.store.Settlement;
import io.timingwheel.spring.task.Schedule;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.internal.RunningBodies;
import io.timingwheel.spring.task.internal.TaskExecution;
import org.jspecify.annotations.Nullable;

/**
 * A task while this node holds it. Its monitor guards its state, and nobody holds the
 * monitor while calling the store or a body.
 */
final class Run implements RoutedTask, TaskExecution {

	final LeasedTask task;

	final DurableHandler handler;

	final NameWindow window;

	private final Runner runner;

	final long dueNanos;

	private final @Nullable RecurringRun recurring;

	/**
	 * Too late to run. If the store found so, it did not count the task for its limits.
	 */
	volatile boolean expired;

	private State state = State.WAITING;

	private long waitsSince = Long.MAX_VALUE;

	private @Nullable Thread thread;

	private boolean interrupted;

	/** How long the node trusts the lease. */
	volatile LeaseKeeper.Term term = LeaseKeeper.Term.NONE;

	private long begunAt;

	long startedNanos;

	long latenessNanos;

	/** Empty if they could not be read. */
	@Nullable Object[] arguments = {};

	private @Nullable Settlement settlement;

	/**
	 * The reply to the settlement in the transaction of the body, {@code null} without
	 * one.
	 */
	@Nullable Reply reply;

	Run(LeasedTask task, DurableHandler handler, NameWindow window, Runner runner, long dueNanos, boolean expired) {
		this.task = task;
		this.handler = handler;
		this.window = window;
		this.runner = runner;
		this.dueNanos = dueNanos;
		this.expired = expired;
		this.recurring = RecurringRun.of(task, handler.missed());
	}

	/** This node cannot run the task: its schedule is of a newer release. */
	boolean hasUnknownSchedule() {
		return this.task.schedule() != null && this.recurring == null;
	}

	/** What expires needs no thread, and a node has one suspect only. */
	synchronized boolean admit() {
		boolean always = this.expired || this.task.suspect();
		if (this.state != State.WAITING || !this.window.enter(always)) {
			return false;
		}
		this.state = State.BEGINNING;
		return true;
	}

	/** The store has not told whether the task has begun. */
	synchronized void waitAgain() {
		if (this.state == State.BEGINNING) {
			this.window.leave();
			this.state = State.WAITING;
		}
	}

	synchronized boolean hasWaitedLong(long now) {
		this.waitsSince = Math.min(this.waitsSince, now);
		return isWaiting() && now - this.waitsSince > NameWindow.LATE_NANOS;
	}

	synchronized boolean isWaiting() {
		return this.state == State.WAITING;
	}

	/** Gives {@code false} if the task was withdrawn. */
	synchronized boolean begin(LeaseKeeper.Term term, long now) {
		if (this.state == State.WAITING) {
			this.window.enter(true);
		}
		else if (this.state != State.BEGINNING) {
			return false;
		}
		this.term = term;
		this.state = State.BEGUN;
		this.begunAt = now;
		return true;
	}

	synchronized boolean isLeased() {
		return this.state == State.BEGUN || this.state == State.RUNNING || this.state == State.SETTLING;
	}

	/** Takes the task away, unless its body runs already. */
	synchronized boolean withdraw() {
		return this.state.compareTo(State.BEGUN) <= 0 && leave();
	}

	/** Takes the task away, and interrupts its body; {@code false} if that has ended. */
	synchronized boolean loseLease() {
		boolean lost = this.state == State.BEGUN || this.state == State.RUNNING;
		return lost && interrupt() && leave();
	}

	private boolean leave() {
		if (this.state == State.BEGINNING || this.state == State.BEGUN) {
			this.window.leave();
		}
		this.state = State.GONE;
		return true;
	}

	synchronized boolean cutOff() {
		return this.state == State.RUNNING && delaysShutdown() && interrupt();
	}

	private boolean interrupt() {
		if (this.thread != null) {
			this.interrupted = true;
			this.thread.interrupt();
		}
		return true;
	}

	synchronized boolean isRunning() {
		return this.thread != null;
	}

	/**
	 * The shutdown must not wait for a body that waits for the end of the application.
	 */
	synchronized boolean delaysShutdown() {
		return this.thread != null && !RunningBodies.waitsForEnd(this.thread);
	}

	@Override
	public Executor executor() {
		return this.handler.method().executor().get();
	}

	@Override
	public boolean handOver(Executor executor, Runnable timer) {
		return this.runner.handOver(this, executor, timer);
	}

	@Override
	public void run() {
		this.runner.run(this);
	}

	synchronized boolean start(long now) {
		if (this.state != State.BEGUN) {
			return false;
		}
		this.state = State.RUNNING;
		this.window.started(this.begunAt);
		this.thread = Thread.currentThread();
		this.startedNanos = now;
		this.latenessNanos = Math.max(0, now - this.dueNanos);
		return true;
	}

	/** An unknown schedule may say what becomes of a late run. */
	boolean isTooLate(long now, Duration missedAfter) {
		Duration lateness = Duration.ofNanos(Math.max(0, now - this.dueNanos));
		Duration expireAfter = this.handler.method().expireAfter();
		boolean skipped = this.recurring != null && attempt() == 1 && deliveries() == 1
				&& this.recurring.isSkipped(lateness, missedAfter);
		return !hasUnknownSchedule()
				&& (this.expired || skipped || (expireAfter != null && lateness.compareTo(expireAfter) > 0));
	}

	void readArguments() throws Exception {
		if (this.recurring == null && this.task.schedule() != null) {
			// Throws what is wrong.
			Schedule.parse(this.task.schedule().text());
		}
		String payload = this.task.payload();
		if (payload == null) {
			throw new IllegalStateException(
					"The payload is larger than timingwheel.store.max-payload-size of this node");
		}
		this.arguments = this.handler.arguments().decode(payload);
	}

	@Nullable Object proceed() throws Throwable {
		TransactionalBodies transactions = this.handler.transactions();
		return (transactions != null) ? transactions.run(this) : invoke();
	}

	@Nullable Object invoke() throws Throwable {
		return this.handler.method().body().invoke(this.arguments);
	}

	/**
	 * Ends the body, but not its transaction. No interrupt by this object outlives it.
	 */
	synchronized void endBody() {
		if (this.interrupted) {
			Thread.interrupted();
		}
		if (this.state == State.RUNNING) {
			this.state = State.SETTLING;
		}
	}

	/** Ends body and transaction; {@code false} if the node has lost the task. */
	synchronized boolean end() {
		endBody();
		this.thread = null;
		return this.state == State.SETTLING;
	}

	synchronized boolean wasCutOff() {
		return this.interrupted;
	}

	/**
	 * The end of a task, or of one run of a schedule.
	 * @param error why it is given up, {@code null} if it is not
	 */
	Settlement end(@Nullable String error) {
		if (this.recurring != null) {
			return this.recurring.end(lateness(), storeTime(), error);
		}
		return (error != null) ? new Settlement.Bury(this.task.ref(), error)
				: new Settlement.Acknowledge(this.task.ref());
	}

	void setSettlement(Settlement settlement) {
		this.settlement = settlement;
	}

	Settlement settlement() {
		return Objects.requireNonNull(this.settlement);
	}

	/** The time by the store's clock, as this node estimates it. */
	Instant storeTime() {
		return Instant.ofEpochMilli(this.task.dueAt()).plusNanos(this.runner.nanoTime() - this.dueNanos);
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
		return this.task.deliveries() + (this.task.begun() ? 0 : 1);
	}

	@Override
	public @Nullable String traceparent() {
		return this.task.traceparent();
	}

	@Override
	public Method method() {
		return this.handler.method().method();
	}

	@Override
	public String toString() {
		String key = this.task.key();
		return "\"" + name() + ((key != null) ? "/" + key : "") + "\" (id " + id() + ")";
	}

	private enum State {

		/** The task is on the wheel, or waits for room. */
		WAITING,

		/** The store is asked to begin the task. */
		BEGINNING,

		/** The store has begun the task, which waits for its executor. */
		BEGUN,

		RUNNING,

		/** The body has ended, and its transaction or the store does not know yet. */
		SETTLING,

		GONE

	}

}

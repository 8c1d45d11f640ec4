package io.timingwheel.spring.durable.node;

import java.lang.reflect.Method;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.function.LongSupplier;

import io.timingwheel.spring.durable.store.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.store.DueTime;
import io.timingwheel.spring.durable.store.LeasedTask;
import io.timingwheel.spring.durable.store.Settlement;
import io.timingwheel.spring.durable.store.StoredTask.StoredSchedule;
import io.timingwheel.spring.task.Missed;
import io.timingwheel.spring.task.Schedule;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.internal.Recurrence;
import io.timingwheel.spring.task.internal.RunningBodies;
import io.timingwheel.spring.task.internal.TaskExecution;
import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;

/**
 * A claimed task while this node holds it: its body, its times by the node's clock, and
 * its states. The monitor guards the states, and nobody holds it while calling the store
 * or a body.
 */
final class Run {

	final LeasedTask task;

	final DurableHandler handler;

	/** The places for tasks that have begun and have no thread yet. */
	final Names.Window window;

	private final LongSupplier clock;

	final long dueNanos;

	/** {@code null} without one, or if this release does not know it. */
	private final @Nullable Schedule schedule;

	/** Too late to run. If the store has found so, the task counts for no limit. */
	volatile boolean expired;

	/** {@code null} until they have been read. */
	@Nullable Object @Nullable [] arguments;

	private State state = State.WAITING;

	/** Until when the node trusts the lease, once the task has begun. */
	volatile long trustedUntil;

	private long begunAt;

	/** The due time until the task has started. */
	long startedNanos;

	private @Nullable Thread thread;

	volatile boolean interrupted;

	@Nullable Settlement settlement;

	/** To the settlement in the transaction of the body, {@code null} without one. */
	volatile @Nullable Reply reply;

	Run(LeasedTask task, DurableHandler handler, Names.Window window, LongSupplier clock, long dueNanos) {
		this.task = task;
		this.handler = handler;
		this.window = window;
		this.clock = clock;
		this.dueNanos = dueNanos;
		this.startedNanos = dueNanos;
		this.schedule = known(task.schedule());
	}

	private static @Nullable Schedule known(@Nullable StoredSchedule stored) {
		try {
			return (stored != null) ? Schedule.parse(stored.text()) : null;
		}
		catch (IllegalArgumentException ex) {
			return null;
		}
	}

	/** This node cannot run the task: its schedule is of a newer release. */
	boolean hasUnknownSchedule() {
		return this.task.schedule() != null && this.schedule == null;
	}

	/** An unknown schedule may say what becomes of a late run. */
	boolean isTooLate(Duration missedAfter) {
		Duration lateness = lateness();
		Duration expireAfter = this.handler.method().expireAfter();
		boolean skipped = this.task.schedule() != null && this.handler.missed() == Missed.SKIP
				&& this.task.attempt() == 1 && deliveries() == 1 && lateness.compareTo(missedAfter) > 0;
		return !hasUnknownSchedule()
				&& (this.expired || skipped || (expireAfter != null && lateness.compareTo(expireAfter) > 0));
	}

	void readArguments() throws Exception {
		Assert.state(!hasUnknownSchedule(),
				() -> "This node does not know the schedule " + Objects.requireNonNull(this.task.schedule()).text());
		String payload = this.task.payload();
		Assert.state(payload != null, "The payload is larger than timingwheel.store.max-payload-size of this node");
		this.arguments = this.handler.payloads().decode(payload);
	}

	/** No interrupt by this object outlives the body. */
	@Nullable Object invoke() throws Throwable {
		try {
			return this.handler.method().body().invoke(Objects.requireNonNull(this.arguments));
		}
		finally {
			endBody();
		}
	}

	/**
	 * The end of a task, or of one run of a schedule. A further attempt may come after
	 * the next time of the schedule, since the request that stores it takes a while. It
	 * does not stand for that time.
	 * @param error why it is given up, {@code null} if it is not
	 */
	Settlement end(@Nullable String error) {
		StoredSchedule stored = this.task.schedule();
		if (stored == null || this.schedule == null) {
			return (error != null) ? new Settlement.Bury(this.task.ref(), error)
					: new Settlement.Acknowledge(this.task.ref());
		}
		Instant scheduledAt = Instant.ofEpochMilli(stored.scheduledAt());
		Instant dueAt = Instant.ofEpochMilli(this.task.dueAt());
		Instant firstDueAt = (this.task.attempt() > 1 && dueAt.isAfter(scheduledAt)) ? scheduledAt : dueAt;
		Instant ended = storeTime();
		Instant next = new Recurrence(scheduledAt, firstDueAt, dueAt.plus(lateness())).next(this.schedule,
				this.handler.missed(), ended);
		DueTime due = (next == null) ? null
				: this.schedule.isFixedDelay() ? DueTime.after(Duration.between(ended, next)) : DueTime.at(next);
		return new Settlement.Repeat(this.task.ref(), stored.text(), due, error);
	}

	/** The time by the store's clock, as this node estimates it. */
	Instant storeTime() {
		return Instant.ofEpochMilli(this.task.dueAt()).plusNanos(this.clock.getAsLong() - this.dueNanos);
	}

	// The states

	synchronized boolean isWaiting() {
		return this.state == State.WAITING;
	}

	/**
	 * Takes over a place of the window, or frees it if the task was withdrawn.
	 * @return {@code false} if it was
	 */
	synchronized boolean begin(long trustedUntil, long now) {
		if (this.state != State.WAITING) {
			this.window.leave();
			return false;
		}
		this.trustedUntil = trustedUntil;
		this.state = State.BEGUN;
		this.begunAt = now;
		return true;
	}

	synchronized boolean isLeased() {
		return this.state != State.WAITING && this.state != State.GONE;
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
		if (this.state == State.BEGUN) {
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

	/** The shutdown must not wait for a body that waits for its end. */
	synchronized boolean delaysShutdown() {
		return this.thread != null && !RunningBodies.waitsForEnd(this.thread);
	}

	/**
	 * Gives the task to the calling thread; {@code false} if the node has lost it, or if
	 * its lease has ended, as after a suspension of the machine.
	 */
	synchronized boolean start(long now) {
		if (this.state != State.BEGUN || now - this.trustedUntil >= 0) {
			return false;
		}
		this.state = State.RUNNING;
		this.window.started(this.begunAt);
		this.thread = Thread.currentThread();
		this.startedNanos = now;
		return true;
	}

	@Nullable Object proceed() throws Throwable {
		TransactionalBodies transactions = this.handler.transactions();
		return (transactions != null) ? transactions.run(this) : invoke();
	}

	private synchronized void endBody() {
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

	Settlement settlement() {
		return Objects.requireNonNull(this.settlement);
	}

	// What the body and others see

	/** What the body and its interceptors see of a run that has started. */
	TaskExecution execution() {
		String key = this.task.key();
		StoredSchedule stored = this.task.schedule();
		// The same for all attempts, unless the schedule changes in between.
		long dueAt = (stored != null) ? Math.min(stored.scheduledAt(), this.task.dueAt()) : this.task.dueAt();
		return new Execution(name(), this.task.id(), (key != null) ? new TaskId(name(), key) : null,
				Instant.ofEpochMilli(dueAt), lateness(), this.task.attempt(), deliveries(), this.task.traceparent(),
				this.handler.method().method());
	}

	String name() {
		return this.handler.name();
	}

	Duration lateness() {
		return Duration.ofNanos(Math.max(0, this.startedNanos - this.dueNanos));
	}

	private int deliveries() {
		return this.task.deliveries() + (this.task.begun() ? 0 : 1);
	}

	@Override
	public String toString() {
		String key = this.task.key();
		return "\"" + name() + ((key != null) ? "/" + key : "") + "\" (id " + this.task.id() + ")";
	}

	private record Execution(String name, String id, @Nullable TaskId taskId, Instant dueAt, Duration lateness,
			int attempt, int deliveries, @Nullable String linkedTrace, Method method) implements TaskExecution {

	}

	private enum State {

		/** On the wheel, or waits for a place or for the store, which begins it. */
		WAITING,

		/** The store has begun the task, which waits for its executor. */
		BEGUN,

		RUNNING,

		/** The body has ended, and its transaction or the store does not know yet. */
		SETTLING,

		GONE

	}

}

package io.timingwheel.spring.durable.support;

import java.lang.reflect.Method;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.Executor;

import io.timingwheel.RoutedTask;
import io.timingwheel.TimerHandle;
import io.timingwheel.spring.durable.LeasedTask;
import io.timingwheel.spring.durable.TaskRef;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.support.TaskExecution;
import org.jspecify.annotations.Nullable;

/**
 * A leased task in the hands of this node: waits on the wheel until it is due, begins,
 * runs on its executor, and is settled.
 *
 * <p>
 * Its state is guarded by its monitor, which is never held while the store or a body is
 * called.
 */
final class DurableRun implements RoutedTask, TaskExecution {

	private final LeasedTask task;

	private final DurableHandler handler;

	private final DurableNode node;

	/** By the clock of the wheel. */
	private final long dueNanos;

	private State state = State.WAITING;

	private @Nullable TimerHandle timer;

	private @Nullable Thread thread;

	private Cut cut = Cut.NONE;

	private volatile LeaseTerm term = LeaseTerm.NONE;

	private long latenessNanos;

	private @Nullable Object @Nullable [] arguments;

	/**
	 * Creates a run.
	 * @param task the task
	 * @param handler its handler
	 * @param node the node
	 * @param dueNanos when it is due, by the clock of the wheel
	 */
	DurableRun(LeasedTask task, DurableHandler handler, DurableNode node, long dueNanos) {
		this.task = task;
		this.handler = handler;
		this.node = node;
		this.dueNanos = dueNanos;
	}

	TaskRef ref() {
		return this.task.ref();
	}

	LeasedTask task() {
		return this.task;
	}

	DurableHandler handler() {
		return this.handler;
	}

	LeaseTerm term() {
		return this.term;
	}

	/**
	 * Takes the timer by which it waits.
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
	 * The store says that the task has begun.
	 * @param term for how long the node may believe so
	 * @return whether it is to be handed to its executor
	 */
	synchronized boolean begun(LeaseTerm term) {
		if (this.state != State.WAITING) {
			return false;
		}
		this.term = term;
		this.state = State.BEGUN;
		this.timer = null;
		return true;
	}

	void renewed(LeaseTerm term) {
		this.term = term;
	}

	/**
	 * Whether the lease must be kept up.
	 */
	synchronized boolean isHeld() {
		return this.state == State.BEGUN || this.state == State.RUNNING || this.state == State.SETTLING;
	}

	/**
	 * Takes the task away before its body runs.
	 * @return whether there still was something to take
	 */
	synchronized boolean withdraw() {
		if (this.state != State.WAITING && this.state != State.BEGUN) {
			return false;
		}
		this.state = State.GONE;
		if (this.timer != null) {
			this.timer.cancel();
			this.timer = null;
		}
		return true;
	}

	/**
	 * Another node may have the task by now: its body is interrupted, and nothing more is
	 * said of it. If the body has ended the store decides whether that was in time.
	 * @return whether there was something to give up
	 */
	synchronized boolean loseLease() {
		if (this.state != State.BEGUN && this.state != State.RUNNING) {
			return false;
		}
		interrupt(Cut.LEASE_LOST);
		this.state = State.GONE;
		return true;
	}

	/**
	 * Interrupts the body, so that the task can be released.
	 */
	synchronized boolean cutOff() {
		if (this.state != State.RUNNING) {
			return false;
		}
		interrupt(Cut.SHUTDOWN);
		return true;
	}

	synchronized boolean isRunning() {
		return this.thread != null;
	}

	private void interrupt(Cut reason) {
		if (this.thread != null) {
			this.cut = reason;
			this.thread.interrupt();
		}
	}

	@Override
	public Executor executor() {
		return this.node.executor(this.handler);
	}

	/**
	 * On the thread of the executor.
	 */
	@Override
	public void run() {
		if (!start()) {
			return;
		}
		Throwable error = null;
		boolean counted = false;
		try {
			String unusable = prepare();
			if (unusable != null) {
				end();
				this.node.settlements().bury(this, unusable);
				return;
			}
			if (isExpired()) {
				end();
				this.node.settlements().expired(this);
				return;
			}
			this.node.recorder(this.handler).begun();
			counted = true;
			TaskExecution.run(this, this.node.interceptor(), null);
		}
		catch (Throwable ex) {
			error = ex;
		}
		if (!counted) {
			// Reading the arguments has failed as nobody expects.
			this.node.recorder(this.handler).begun();
		}
		Cut cut = end();
		if (cut == Cut.LEASE_LOST) {
			this.node.recorder(this.handler).abandoned();
		}
		else if (error == null) {
			this.node.settlements().completed(this);
		}
		else if (cut == Cut.SHUTDOWN) {
			this.node.settlements().release(this, true);
		}
		else {
			this.node.settlements().failed(this, error, this.arguments);
		}
	}

	private synchronized boolean start() {
		if (this.state != State.BEGUN) {
			return false;
		}
		if (this.term.isOver()) {
			// Stopped for a while, perhaps: the task is another's.
			this.node.lost(this);
			this.state = State.GONE;
			return false;
		}
		this.state = State.RUNNING;
		this.thread = Thread.currentThread();
		this.latenessNanos = Math.max(0, this.node.wheelNanos() - this.dueNanos);
		return true;
	}

	/**
	 * Reads the arguments.
	 * @return why they cannot be had, {@code null} if they can
	 */
	private @Nullable String prepare() {
		String payload = this.task.payload();
		if (payload == null) {
			return "The payload is larger than timingwheel.store.max-payload-size";
		}
		try {
			this.arguments = this.node.codec().decode(this.handler, payload);
			return null;
		}
		catch (UndecodablePayloadException ex) {
			return ex.getMessage();
		}
	}

	private boolean isExpired() {
		Duration expireAfter = this.handler.expireAfter();
		return expireAfter != null && lateness().compareTo(expireAfter) > 0;
	}

	/**
	 * The body has ended. An interrupt of ours does not outlive it: it comes under the
	 * monitor, and only while there is a thread.
	 */
	private synchronized Cut end() {
		this.thread = null;
		if (this.cut != Cut.NONE) {
			Thread.interrupted();
		}
		if (this.state == State.RUNNING) {
			this.state = State.SETTLING;
			return this.cut;
		}
		return Cut.LEASE_LOST;
	}

	@Override
	public @Nullable Object proceed() throws Throwable {
		@Nullable Object[] arguments = this.arguments;
		if (arguments == null) {
			throw new IllegalStateException("The task has ended");
		}
		return this.handler.invoke(arguments);
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
		return Instant.ofEpochMilli(this.task.dueAt());
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
		return this.task.begun() ? this.task.deliveries() : this.task.deliveries() + 1;
	}

	@Override
	public Method method() {
		return this.handler.method();
	}

	long delayNanos() {
		return Math.max(0, this.dueNanos - this.node.wheelNanos());
	}

	@Override
	public String toString() {
		String key = this.task.key();
		return "\"" + name() + ((key != null) ? "/" + key : "") + "\" (id " + id() + ")";
	}

	private enum State {

		/** On the wheel, or waiting to begin. */
		WAITING,

		/** Begun, and waiting for its executor. */
		BEGUN,

		/** Its body runs. */
		RUNNING,

		/** Its body has ended, and the store is to know. */
		SETTLING,

		/** It is no concern of this node any more. */
		GONE

	}

	private enum Cut {

		NONE, LEASE_LOST, SHUTDOWN

	}

}

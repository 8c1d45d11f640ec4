package io.timingwheel.spring.durable.node;

import java.util.Objects;
import java.util.concurrent.Executor;

import io.timingwheel.RoutedTask;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.store.LeasedTask;
import io.timingwheel.spring.durable.store.Settlement;
import io.timingwheel.spring.task.internal.RunningBodies;
import org.jspecify.annotations.Nullable;

/**
 * The states of a task while this node holds it. Its monitor guards them, and nobody
 * holds the monitor while calling the store or a body.
 */
final class Run extends ClaimedTask implements RoutedTask {

	/** The places for tasks that have begun and have no thread yet. */
	final NameWindow window;

	private final Runner runner;

	private State state = State.WAITING;

	/** Since when the task, which is due, waits for a place. */
	long waitsSince = Long.MAX_VALUE;

	private @Nullable Thread thread;

	private boolean interrupted;

	/** How long the node trusts the lease. */
	volatile LeaseKeeper.Term term = LeaseKeeper.Term.NONE;

	private long begunAt;

	private @Nullable Settlement settlement;

	/**
	 * The reply to the settlement in the transaction of the body, {@code null} without
	 * one.
	 */
	@Nullable Reply reply;

	Run(LeasedTask task, DurableHandler handler, NameWindow window, Runner runner, long dueNanos) {
		super(task, handler, dueNanos, runner::nanoTime);
		this.window = window;
		this.runner = runner;
	}

	synchronized boolean isWaiting() {
		return this.state == State.WAITING;
	}

	/**
	 * Takes over a place of the window, or frees it if the task was withdrawn.
	 * @return {@code false} if it was
	 */
	synchronized boolean begin(LeaseKeeper.Term term, long now) {
		if (this.state != State.WAITING) {
			this.window.leave();
			return false;
		}
		this.term = term;
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

	@Nullable Object proceed() throws Throwable {
		TransactionalBodies transactions = this.handler.transactions();
		return (transactions != null) ? transactions.run(this) : invoke();
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

	void setSettlement(Settlement settlement) {
		this.settlement = settlement;
	}

	Settlement settlement() {
		return Objects.requireNonNull(this.settlement);
	}

	private enum State {

		/**
		 * The task is on the wheel, waits for a place, or the store is asked to begin it.
		 */
		WAITING,

		/** The store has begun the task, which waits for its executor. */
		BEGUN,

		RUNNING,

		/** The body has ended, and its transaction or the store does not know yet. */
		SETTLING,

		GONE

	}

}

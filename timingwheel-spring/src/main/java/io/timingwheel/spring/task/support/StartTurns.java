package io.timingwheel.spring.task.support;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import java.util.function.BooleanSupplier;

import io.timingwheel.DirectTask;
import io.timingwheel.TimerHandle;
import io.timingwheel.WheelSnapshot;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * The turns in which a {@link StartGate} starts the tasks that wait. A turn comes soon
 * after a request, or at a planned time. There is one turn at a time. Thread-safe.
 */
final class StartTurns {

	private static final Log logger = LogFactory.getLog(StartTurns.class);

	private final NamedTasks tasks;

	/** The lock of the gate. */
	private final Lock lock;

	private final BooleanSupplier startSome;

	private final BooleanSupplier hasWork;

	/** Guarded by the lock. */
	private @Nullable WakeUp wakeUp;

	private final AtomicBoolean due = new AtomicBoolean();

	/** How many turns have been asked for since the current one began. */
	private final AtomicInteger requests = new AtomicInteger();

	/**
	 * Creates the turns of a gate.
	 * @param tasks the tasks of the gate
	 * @param lock the lock of the gate
	 * @param startSome starts some tasks, and returns whether there may be more that can
	 * start now
	 * @param hasWork whether there are tasks for a turn, called under the lock
	 */
	StartTurns(NamedTasks tasks, Lock lock, BooleanSupplier startSome, BooleanSupplier hasWork) {
		this.tasks = tasks;
		this.lock = lock;
		this.startSome = startSome;
		this.hasWork = hasWork;
	}

	/**
	 * Asks for a turn on another thread, unless one has been asked for. With virtual time
	 * the turn comes on this thread. Throws nothing, since the task that asks may wait at
	 * the gate already.
	 */
	void request() {
		if (!this.due.compareAndSet(false, true)) {
			return;
		}
		try {
			environment().handOvers().runSoon(this::turn);
		}
		catch (RejectedExecutionException ex) {
			// The application has ended.
			this.due.set(false);
		}
		catch (Throwable ex) {
			this.due.set(false);
			logger.warn("Tasks of the name \"" + this.tasks.name() + "\" wait longer than their policy says", ex);
		}
	}

	/**
	 * Starts the tasks that may start now. If another thread is at this, that thread goes
	 * on in place of this one. A body that runs on the thread that hands it over
	 * therefore does not nest these calls.
	 */
	private void turn() {
		this.due.set(false);
		if (this.requests.getAndIncrement() != 0) {
			return;
		}
		int asked = 1;
		do {
			try {
				while (this.startSome.getAsBoolean()) {
					// There may be more.
				}
			}
			catch (Throwable ex) {
				this.requests.set(0);
				throw ex;
			}
			asked = this.requests.addAndGet(-asked);
		}
		while (asked != 0);
	}

	/**
	 * Plans a turn, unless one is planned that comes no later. The caller holds the lock.
	 */
	void planAt(long nanos) {
		WakeUp planned = this.wakeUp;
		if (planned != null && planned.atNanos - nanos <= 0) {
			return;
		}
		WakeUp wakeUp = new WakeUp(nanos);
		wakeUp.plan(nanos - environment().clock().nanoTime());
		this.wakeUp = wakeUp;
		if (planned != null) {
			planned.cancel();
		}
	}

	private TaskEnvironment environment() {
		return this.tasks.environment();
	}

	/**
	 * A turn that is planned.
	 */
	private final class WakeUp implements DirectTask {

		private final long atNanos;

		private @Nullable TimerHandle timer;

		WakeUp(long atNanos) {
			this.atNanos = atNanos;
		}

		void plan(long delayNanos) {
			try {
				this.timer = environment().wheel().schedule(this, delayNanos, TimeUnit.NANOSECONDS);
			}
			catch (RejectedExecutionException ex) {
				if (environment().wheel().snapshot().state() == WheelSnapshot.State.RUNNING) {
					// The wheel is full at the moment.
					CompletableFuture
						.delayedExecutor(Math.max(delayNanos, StartQueue.MIN_PAUSE), TimeUnit.NANOSECONDS,
								environment().handOvers().completions())
						.execute(this);
				}
			}
		}

		void cancel() {
			if (this.timer != null) {
				this.timer.cancel();
			}
		}

		@Override
		public void run() {
			StartTurns turns = StartTurns.this;
			turns.lock.lock();
			try {
				if (turns.wakeUp != this) {
					return;
				}
				turns.wakeUp = null;
				if (!turns.hasWork.getAsBoolean()) {
					return;
				}
			}
			finally {
				turns.lock.unlock();
			}
			request();
		}

	}

}

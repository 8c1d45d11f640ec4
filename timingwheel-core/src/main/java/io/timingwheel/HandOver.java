package io.timingwheel;

import java.util.List;
import java.util.Objects;
import java.util.concurrent.Executor;

import org.jspecify.annotations.Nullable;

/**
 * Hands expired timers over to their executors, and tries again what an executor has
 * refused. Only the driver uses this class.
 */
final class HandOver {

	/** How many timers one step of a retry tries at most. */
	private static final int RETRY_STEP = 256;

	private final Executor executor;

	private final TaskErrors errors;

	private final Refusals refusals;

	/**
	 * Whether the wheel's own thread hands tasks over. An interrupt of a thread that
	 * advances a clock by hand belongs to that thread.
	 */
	private final boolean ownThread;

	/**
	 * The class of the last task. To check again what kind of task it is would cost as
	 * much as the rest of a hand-over.
	 */
	private @Nullable Class<?> knownClass;

	private boolean direct;

	private boolean routed;

	private boolean periodic;

	/** The timer that is being tried again. */
	private @Nullable Timer triedAgain;

	HandOver(Executor executor, TaskErrors errors, Refusals refusals, boolean ownThread) {
		this.executor = executor;
		this.errors = errors;
		this.refusals = refusals;
		this.ownThread = ownThread;
	}

	/**
	 * Hands over the current timer of a batch. The batch keeps the timer if it was moved,
	 * or if its executor refuses too often.
	 */
	void handOver(Timer timer, Batch batch, Shard shard) {
		Runnable task = timer.task();
		if (task == null) {
			// Cancelled since the chunk was taken.
			return;
		}
		try {
			learn(task);
			if (!this.direct) {
				execute(timer, task, batch, shard);
			}
			else if (timer.runIfDue(batch.tick())) {
				shard.handedOver();
			}
			else {
				keep(timer, batch, null);
			}
		}
		catch (Throwable ex) {
			// For example no memory to load a class. The timer must not be lost.
			shard.keepIfPending(timer);
			throw ex;
		}
		finally {
			forgetInterrupt();
		}
	}

	private void execute(Timer timer, Runnable task, Batch batch, Shard shard) {
		RefusalQueue queue = this.refusals.of(this.routed ? task.getClass() : this.executor);
		if (queue != null && queue.holdsBack()) {
			keep(timer, batch, queue);
		}
		else if (!this.routed) {
			execute(timer, task, this.executor, queue, batch, shard);
		}
		else if (timer.isDue(batch.tick())) {
			route(timer, task, queue, batch, shard);
		}
		else {
			keep(timer, batch, null);
		}
	}

	/**
	 * Hands a task over to its own executor. Tasks that name no executor wait together
	 * with those of the same class.
	 */
	private void route(Timer timer, Runnable task, @Nullable RefusalQueue queueOfClass, Batch batch, Shard shard) {
		Executor executor;
		try {
			executor = executorOf(task);
		}
		catch (Throwable ex) {
			if (!timer.expire(batch.tick())) {
				keep(timer, batch, null);
			}
			else {
				refused(timer, task.getClass(), ex, batch, shard);
			}
			return;
		}
		if (queueOfClass != null) {
			this.refusals.accepted(queueOfClass);
		}
		RefusalQueue queue = this.refusals.of(executor);
		if (queue != null && queue.holdsBack()) {
			keep(timer, batch, queue);
		}
		else {
			execute(timer, task, executor, queue, batch, shard);
		}
	}

	private void execute(Timer timer, Runnable task, Executor executor, @Nullable RefusalQueue queue, Batch batch,
			Shard shard) {
		boolean periodic = this.periodic;
		boolean called = true;
		if (!timer.expire(batch.tick())) {
			keep(timer, batch, null);
			return;
		}
		try {
			called = handOver(timer, task, executor);
		}
		catch (Throwable ex) {
			if (refused(timer, executor, ex, batch, shard)) {
				return;
			}
			reportIfBegun(timer, task, ex);
		}
		if (queue != null && called) {
			this.refusals.accepted(queue);
		}
		count(timer, shard, periodic);
	}

	/**
	 * Hands a timer over.
	 * @return false if the executor was not called
	 */
	private boolean handOver(Timer timer, Runnable task, Executor executor) {
		if (this.routed) {
			return ((RoutedTask) task).handOver(executor, timer);
		}
		executor.execute(timer);
		return true;
	}

	private static void keep(Timer timer, Batch batch, @Nullable RefusalQueue queue) {
		// A task that has stopped the wheel has emptied the batch.
		if (timer.isPending()) {
			batch.keepCurrent(queue);
		}
	}

	/**
	 * Lets a timer wait whose executor has refused it.
	 * @return false if the task has begun nevertheless, or the timer has ended
	 */
	private boolean refused(Timer timer, Object key, Throwable reason, Batch batch, Shard shard) {
		if (!timer.isExpired()) {
			return false;
		}
		try {
			RefusalQueue queue = this.refusals.of(key);
			boolean first = queue == null;
			if (queue == null) {
				queue = this.refusals.create(key);
			}
			if (!shard.refused(timer, queue)) {
				return false;
			}
			if (!first) {
				queue.refused();
			}
		}
		catch (Throwable ex) {
			// Without memory for the queue, the timer goes back into the wheel.
			timer.refuse();
			throw ex;
		}
		this.refusals.refused(reason);
		return true;
	}

	/**
	 * Tries the timers of an executor again whose retry is due, in bounded steps.
	 */
	void retry(long now) {
		RefusalQueue queue = this.refusals.due(now);
		if (queue == null) {
			return;
		}
		queue.beginRetry();
		for (int i = 0; i < RETRY_STEP; i++) {
			Timer timer = queue.poll();
			if (timer == null) {
				this.refusals.endRetry(queue);
				return;
			}
			try {
				tryAgain(timer, queue);
			}
			finally {
				forgetInterrupt();
			}
		}
		this.refusals.interruptRetry(queue, now);
	}

	private void tryAgain(Timer timer, RefusalQueue queue) {
		Shard shard = timer.shard();
		Runnable task = timer.task();
		if (shard == null || task == null) {
			return;
		}
		learn(task);
		boolean periodic = this.periodic;
		boolean called = true;
		this.triedAgain = timer;
		try {
			called = handOver(timer, task, this.routed ? executorOf(task) : this.executor);
		}
		catch (Throwable ex) {
			if (shard.refused(timer, queue)) {
				queue.refused();
				this.refusals.refused(ex);
				return;
			}
			reportIfBegun(timer, task, ex);
		}
		finally {
			this.triedAgain = null;
		}
		if (called) {
			queue.accepted();
		}
		count(timer, shard, periodic);
	}

	private static Executor executorOf(Runnable task) {
		return Objects.requireNonNull(((RoutedTask) task).executor(), "The task names no executor");
	}

	private void reportIfBegun(Timer timer, Runnable task, Throwable ex) {
		if (timer.isBegun()) {
			this.errors.report(task, ex);
		}
	}

	/**
	 * Counts an accepted hand-over, unless the task or its executor has stopped the wheel
	 * and {@code stop} has returned the task.
	 */
	private static void count(Timer timer, Shard shard, boolean periodic) {
		if (timer.isReturned()) {
			return;
		}
		if (periodic) {
			shard.handedOverToRepeat();
		}
		else {
			shard.handedOver();
		}
	}

	private void learn(Runnable task) {
		Class<?> type = task.getClass();
		if (type != this.knownClass) {
			this.direct = task instanceof DirectTask;
			this.routed = task instanceof RoutedTask;
			this.periodic = task instanceof WheelPeriodicTask;
			this.knownClass = type;
		}
	}

	/**
	 * Forgets the class of the last task, which would keep its class loader in memory
	 * while the wheel is idle.
	 */
	void forgetClass() {
		this.knownClass = null;
	}

	/**
	 * Clears the interrupt flag that a task may have left, as a pool does between two
	 * tasks.
	 */
	private void forgetInterrupt() {
		if (this.ownThread) {
			Thread.interrupted();
		}
	}

	/**
	 * Returns the task that is being tried again, unless it has begun.
	 */
	void giveBackTriedAgain(List<Runnable> tasks) {
		Timer timer = this.triedAgain;
		Shard shard = (timer != null) ? timer.shard() : null;
		if (timer != null && shard != null) {
			shard.giveBack(timer, tasks);
		}
	}

}

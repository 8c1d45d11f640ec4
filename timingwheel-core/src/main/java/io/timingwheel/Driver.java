package io.timingwheel;

import java.util.ArrayList;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

import org.jspecify.annotations.Nullable;

/**
 * Serves the shards in the order of their ticks, and hands expired timers over. A
 * {@link DriverThread} or a {@link ManualTimeSource} calls {@link #turn} whenever the
 * tick of {@link #nextWake} has come.
 */
final class Driver {

	private static final long LAG_TO_WARN = TimeUnit.SECONDS.toNanos(1);

	/** How many timers one step of a retry tries at most. */
	private static final int RETRY_STEP = 256;

	/** The gate of tasks that do not name their executor has this key. */
	private static final Object UNNAMED = new Object();

	private final WheelClock time;

	private final Shard[] shards;

	private final Executor executor;

	private final Log log;

	/**
	 * Whether the wheel's own thread hands tasks over. An interrupt of a thread that
	 * advances a clock by hand belongs to that thread.
	 */
	private final boolean ownThread;

	/** Held during a turn, so that {@code stop} can wait for its end. */
	private final ReentrantLock turnLock = new ReentrantLock();

	/** All gates, by their next retry. */
	private PriorityQueue<Gate> gates = new PriorityQueue<>(Gate.BY_RETRY);

	private long turns;

	/** The timer that is being tried again. A turn that has failed leaves it. */
	private @Nullable Timer waiting;

	/** The chunk in hand, which the next turn continues if a turn has failed. */
	private @Nullable Chunk chunk;

	/** The index of the current timer. */
	private int index;

	/** The tick of the chunk in hand, {@link Wheel#NEVER} if there is none. */
	private volatile long tickInHand = Wheel.NEVER;

	private volatile long nextRetry = Wheel.NEVER;

	private volatile long refused;

	private volatile long maxLag;

	private volatile boolean stopped;

	/**
	 * The class of the last task. To check again what kind of task it is would cost as
	 * much as the rest of a hand-over.
	 */
	private @Nullable Class<?> knownClass;

	private boolean direct;

	private boolean routed;

	Driver(WheelClock time, Shard[] shards, Executor executor, Log log, boolean ownThread) {
		this.time = time;
		this.shards = shards;
		this.executor = executor;
		this.log = log;
		this.ownThread = ownThread;
	}

	/**
	 * The first tick at which there may be something to do, {@link Wheel#NEVER} if there
	 * is nothing.
	 */
	long nextWake() {
		if (this.stopped) {
			return Wheel.NEVER;
		}
		long wake = Math.min(this.tickInHand, this.nextRetry);
		for (Shard shard : this.shards) {
			wake = Math.min(wake, shard.wheel.nextWake());
		}
		return wake;
	}

	/**
	 * The tick of the chunk in hand, otherwise the first tick at which a slot may begin
	 * or an executor that has refused is tried again.
	 */
	long nextHandOver() {
		if (this.stopped) {
			return this.tickInHand;
		}
		long due = Math.min(this.tickInHand, this.nextRetry);
		for (Shard shard : this.shards) {
			due = Math.min(due, shard.wheel.nextDue());
		}
		return due;
	}

	/**
	 * The nanoseconds until {@link #nextWake}, {@link Long#MAX_VALUE} if they exceed the
	 * range.
	 */
	long nanosUntilNextWake() {
		long nanos = this.time.nanosAt(nextWake());
		return (nanos == Long.MAX_VALUE) ? Long.MAX_VALUE : nanos - this.time.elapsed();
	}

	/**
	 * Takes one bounded step: tries again some timers that an executor has refused, and
	 * hands over a chunk of the first slot that has begun, or cascades some timers of a
	 * slot. A turn that fails leaves everything so that the next turn can continue.
	 */
	void turn() {
		this.turnLock.lock();
		try {
			if (!this.stopped) {
				serveChunk();
				long now = this.time.now();
				retry(now);
				if (!this.stopped) {
					take(now);
					serveChunk();
				}
			}
		}
		finally {
			// It would keep its class loader in memory while the wheel is idle.
			this.knownClass = null;
			this.turnLock.unlock();
		}
	}

	/**
	 * Takes a step of the shard whose slot has begun first, otherwise of the shard that
	 * has to cascade first.
	 */
	private void take(long now) {
		Shard due = this.shards[0];
		Shard wake = due;
		for (Shard shard : this.shards) {
			if (shard.wheel.nextDue() < due.wheel.nextDue()) {
				due = shard;
			}
			if (shard.wheel.nextWake() < wake.wheel.nextWake()) {
				wake = shard;
			}
		}
		Shard shard = (due.wheel.nextDue() <= now) ? due : wake;
		Chunk chunk = shard.advance(now);
		if (chunk != null) {
			this.chunk = chunk;
			this.index = 0;
			this.tickInHand = shard.wheel.clock;
			lagsBy(-this.time.nanosUntil(this.tickInHand));
		}
	}

	/**
	 * Records how late a chunk is, and warns if it is very late.
	 */
	private void lagsBy(long nanos) {
		this.maxLag = Math.max(this.maxLag, nanos);
		if (nanos > LAG_TO_WARN) {
			this.log.warn(Log.Warning.LAG, "The timing wheel lags: it hands tasks over "
					+ TimeUnit.NANOSECONDS.toMillis(nanos) + " ms after their deadlines. Its thread has waited for an"
					+ " executor whose execute method blocks, has run a task itself, or has had no processor. Give such"
					+ " tasks to an executor with threads and a queue, or the machine more processors", null);
		}
	}

	private void serveChunk() {
		Chunk chunk = this.chunk;
		if (chunk != null) {
			Shard shard = chunk.shard;
			long tick = this.tickInHand;
			int size = chunk.size();
			while (this.index < size) {
				Timer timer = chunk.get(this.index);
				if (timer != null) {
					handOver(timer, shard, tick);
				}
				this.index++;
			}
			this.chunk = null;
			this.tickInHand = Wheel.NEVER;
		}
	}

	private void handOver(Timer timer, Shard shard, long tick) {
		Runnable task = timer.task();
		if (task == null) {
			// The timer has ended since the driver took it.
			return;
		}
		try {
			learn(task);
			if (this.direct) {
				if (timer.runIfDue(tick)) {
					shard.handedOver();
					return;
				}
			}
			else if (timer.isExpired() || timer.expire(tick)) {
				handOver(timer, task, shard, tick);
				return;
			}
			shard.putBack(timer, tick);
		}
		finally {
			if (this.ownThread) {
				// As a pool does between two tasks.
				Thread.interrupted();
			}
		}
	}

	private void learn(Runnable task) {
		Class<?> type = task.getClass();
		if (type != this.knownClass) {
			this.direct = task instanceof DirectTask;
			this.routed = task instanceof RoutedTask;
			this.knownClass = type;
		}
	}

	/**
	 * Hands a timer over that has expired, unless it has to wait for its executor. Tasks
	 * that name no executor are always tried, and wait together.
	 */
	private void handOver(Timer timer, Runnable task, Shard shard, long tick) {
		Executor executor = null;
		Throwable failure = null;
		boolean called = true;
		try {
			executor = this.routed
					? Objects.requireNonNull(((RoutedTask) task).executor(), "The task names no executor")
					: this.executor;
		}
		catch (Throwable ex) {
			failure = ex;
		}
		Object key = (executor != null) ? executor : UNNAMED;
		Gate gate = shard.gate(key);
		if (executor != null) {
			TimerList list = (gate != null) ? gate.listForDue() : null;
			if (list != null) {
				shard.letWait(timer, list, tick);
				return;
			}
			try {
				called = execute(timer, task, executor);
			}
			catch (Throwable ex) {
				failure = ex;
			}
		}
		if (failure != null && (timer.isWithdrawn() || letWait(timer, shard, gate, key, tick))) {
			this.refused++;
			this.log.warn(Log.Warning.REFUSAL,
					"An executor has refused a task of the timing wheel. The task stays pending and is handed over again"
							+ " later. Give the executor more threads or a longer queue, or schedule fewer tasks",
					failure);
			return;
		}
		if (failure != null) {
			this.log.report(task, failure);
		}
		if (gate != null && called && gate.accept()) {
			this.gates.remove(gate);
			plan(gate, Gate.MIN_PAUSE);
		}
		count(timer, task, shard);
	}

	/**
	 * Calls an executor.
	 * @return false if somebody else has taken the task, so that the executor was not
	 * called
	 */
	private boolean execute(Timer timer, Runnable task, Executor executor) {
		if (this.routed) {
			return ((RoutedTask) task).handOver(executor, timer);
		}
		executor.execute(timer);
		return true;
	}

	/**
	 * Lets a timer wait that was refused.
	 * @return false if the task has begun nevertheless
	 */
	private boolean letWait(Timer timer, Shard shard, @Nullable Gate existing, Object key, long tick) {
		if (!timer.isExpired()) {
			return false;
		}
		Gate gate = existing;
		if (gate == null) {
			gate = new Gate(key, shard);
			plan(gate, Gate.MIN_PAUSE);
			shard.addGate(gate);
		}
		if (!shard.letWait(timer, gate.listForRefused(), tick)) {
			return false;
		}
		gate.refuse();
		return true;
	}

	/**
	 * Counts an accepted hand-over, unless the task or its executor has stopped the wheel
	 * and {@code stop} has returned the task.
	 */
	private static void count(Timer timer, Runnable task, Shard shard) {
		if (!timer.isReturned()) {
			if (task instanceof WheelScheduledTask<?> scheduled && scheduled.isPeriodic()) {
				shard.handedOverToRepeat();
			}
			else {
				shard.handedOver();
			}
		}
	}

	/**
	 * Tries the timers of an executor again whose retry is due, in bounded steps.
	 */
	private void retry(long now) {
		tryAgain(now);
		Gate gate = (this.nextRetry <= now) ? this.gates.peek() : null;
		if (gate == null) {
			return;
		}
		gate.beginRetry();
		int size = gate.size();
		for (int i = 0; i < Math.min(size, RETRY_STEP) && !this.stopped; i++) {
			TimerList list = gate.next();
			if (list == null) {
				break;
			}
			this.waiting = gate.shard.takeWaiting(list, now);
			tryAgain(now);
		}
		long pause = gate.endRetry(size > RETRY_STEP);
		this.gates.remove(gate);
		if (!gate.shard.removeIfEmpty(gate)) {
			plan(gate, pause);
			return;
		}
		if (this.gates.isEmpty()) {
			// The old queue would keep its capacity for the largest number of gates.
			this.gates = new PriorityQueue<>(Gate.BY_RETRY);
		}
		planNext();
	}

	private void tryAgain(long now) {
		Timer timer = this.waiting;
		Shard shard = (timer != null) ? timer.shard() : null;
		if (timer != null && shard != null) {
			handOver(timer, shard, now);
		}
		this.waiting = null;
	}

	/**
	 * Plans the next retry of a gate that is not in the queue.
	 */
	private void plan(Gate gate, long pause) {
		gate.retryTick = this.time.dueTick(this.time.elapsed(), pause);
		gate.turn = this.turns++;
		this.gates.add(gate);
		planNext();
	}

	private void planNext() {
		Gate first = this.gates.peek();
		this.nextRetry = (first != null) ? first.retryTick : Wheel.NEVER;
	}

	/**
	 * Stops the driver for good, and collects all tasks that were not handed over. Waits
	 * for the task that is being handed over, unless a task or an executor calls this on
	 * the driver's thread. Then this also collects the current task unless it has begun.
	 * @param tasks gets the tasks. If this method fails, for example without memory,
	 * another call collects the others
	 * @param waitNanos how long to wait for the turn in progress
	 */
	void stop(ArrayList<Runnable> tasks, long waitNanos) {
		this.stopped = true;
		drain(tasks, false);
		boolean locked = lockTurn(waitNanos);
		try {
			Timer current = locked ? current() : null;
			Shard shard = (current != null) ? current.shard() : null;
			if (current != null && shard != null) {
				shard.giveBack(current, tasks);
			}
			drain(tasks, true);
		}
		finally {
			if (locked) {
				this.turnLock.unlock();
			}
		}
	}

	private void drain(ArrayList<Runnable> tasks, boolean last) {
		for (Shard shard : this.shards) {
			shard.drain(tasks, last);
		}
	}

	/**
	 * The timer that is being handed over.
	 */
	private @Nullable Timer current() {
		Chunk chunk = this.chunk;
		if (this.waiting != null || chunk == null || this.index == chunk.size()) {
			return this.waiting;
		}
		return chunk.get(this.index);
	}

	/**
	 * Waits until no turn is in progress.
	 * @return false if the wait has taken too long
	 */
	private boolean lockTurn(long waitNanos) {
		boolean interrupted = false;
		long end = System.nanoTime() + waitNanos;
		try {
			while (true) {
				try {
					return this.turnLock.tryLock(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS);
				}
				catch (InterruptedException ex) {
					interrupted = true;
				}
			}
		}
		finally {
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

	/**
	 * Records that the driver's thread has ended. If nobody has stopped the wheel, the
	 * wheel rejects timers from now on and counts as stopped, and {@code stop} still
	 * returns the tasks of the pending timers.
	 */
	void threadEnded() {
		if (!this.stopped) {
			this.stopped = true;
			for (Shard shard : this.shards) {
				shard.close();
			}
		}
	}

	boolean isStopped() {
		return this.stopped;
	}

	/**
	 * How many hand-overs executors have refused.
	 */
	long refused() {
		return this.refused;
	}

	long lagNanos() {
		long tick = nextHandOver();
		return (tick == Wheel.NEVER) ? 0 : Math.max(0, -this.time.nanosUntil(tick));
	}

	long maxLagNanos() {
		return this.maxLag;
	}

}

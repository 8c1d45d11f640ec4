package io.timingwheel;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.ToLongFunction;

import io.timingwheel.TimerList.Chunk;
import org.jspecify.annotations.Nullable;

/**
 * Serves the shards in the order of their ticks, and hands expired timers over. A
 * {@link DriverThread} or a {@link ManualTimeSource} calls {@link #turn} whenever the
 * tick of {@link #nextWake} has come.
 */
final class Driver {

	private static final long LAG_TO_WARN = TimeUnit.SECONDS.toNanos(1);

	private static final int RETRY_STEP = 256;

	/** The gate of tasks that do not name their executor has this key. */
	private static final Object UNNAMED = new Object();

	// Constants, since the first use of a lambda needs memory.

	private static final ToLongFunction<Wheel> NEXT_DUE = (wheel) -> wheel.nextDue;

	private static final ToLongFunction<Wheel> NEXT_WAKE = (wheel) -> wheel.nextWake;

	private final WheelClock time;

	private final Shard[] shards;

	private final Executor executor;

	private final Log log;

	/** False for a manual clock: an interrupt belongs to the thread that advances it. */
	private final boolean ownThread;

	/** Held during a turn, so that {@code stop} can wait for its end. */
	private final ReentrantLock turnLock = new ReentrantLock();

	/** The gates in the order of their turns. */
	private final TreeMap<long[], Gate> gates = new TreeMap<>(Arrays::compare);

	private long turns;

	/** The timer that is being tried again. A turn that has failed leaves it. */
	private @Nullable Timer retried;

	/** The chunk in hand, which the next turn continues if a turn has failed. */
	private @Nullable Chunk chunk;

	private int index;

	/** {@link Wheel#NEVER} if no chunk is in hand. */
	private volatile long tickInHand = Wheel.NEVER;

	private volatile long nextRetry = Wheel.NEVER;

	volatile long refused;

	/** In nanoseconds. */
	volatile long maxLag;

	volatile boolean stopped;

	Driver(WheelClock time, Shard[] shards, Executor executor, Log log, boolean ownThread) {
		this.time = time;
		this.shards = shards;
		this.executor = executor;
		this.log = log;
		this.ownThread = ownThread;
	}

	long nextWake() {
		return this.stopped ? Wheel.NEVER : earliest(NEXT_WAKE);
	}

	/** The tick of the chunk in hand, or of the first slot or retry. */
	long nextHandOver() {
		return this.stopped ? this.tickInHand : earliest(NEXT_DUE);
	}

	private long earliest(ToLongFunction<Wheel> tick) {
		long earliest = Math.min(this.tickInHand, this.nextRetry);
		for (Shard shard : this.shards) {
			earliest = Math.min(earliest, tick.applyAsLong(shard.wheel));
		}
		return earliest;
	}

	long nanosUntilNextWake() {
		long nanos = this.time.nanosAt(nextWake());
		return (nanos == Long.MAX_VALUE) ? Long.MAX_VALUE : nanos - this.time.elapsed();
	}

	/**
	 * Takes one bounded step: tries refused timers again, and hands over a chunk or
	 * cascades some timers. If a turn fails, the next one continues.
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
			this.turnLock.unlock();
		}
	}

	/** Serves the shard whose slot has begun first, or else must cascade first. */
	private void take(long now) {
		Shard due = this.shards[0];
		Shard wake = due;
		for (Shard shard : this.shards) {
			if (shard.wheel.nextDue < due.wheel.nextDue) {
				due = shard;
			}
			if (shard.wheel.nextWake < wake.wheel.nextWake) {
				wake = shard;
			}
		}
		Shard shard = (due.wheel.nextDue <= now) ? due : wake;
		Chunk chunk = shard.advance(now);
		if (chunk != null) {
			this.chunk = chunk;
			this.index = 0;
			this.tickInHand = shard.wheel.clock;
			lagsBy(-this.time.nanosUntil(this.tickInHand));
		}
	}

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
					serve(timer, shard, tick, null);
				}
				this.index++;
			}
			this.chunk = null;
			this.tickInHand = Wheel.NEVER;
		}
	}

	/**
	 * Hands a due timer over, or puts it back if it was moved. The source is the list of
	 * a retry, null if the timer has fallen due. A timer of a retry or of a failed turn
	 * is FIRED already.
	 */
	private void serve(Timer timer, Shard shard, long tick, @Nullable TimerList source) {
		Runnable task = timer.task();
		if (task == null) {
			// The timer has ended since the driver took it.
			return;
		}
		try {
			if (task instanceof DirectTask) {
				if (timer.runIfDue(tick)) {
					shard.handedOver(false);
					return;
				}
			}
			else if (timer.state() == Timer.FIRED || timer.expire(tick, Timer.FIRED)) {
				handOver(timer, task, shard, tick, source);
				return;
			}
			shard.putBack(timer);
		}
		finally {
			if (this.ownThread) {
				// As a pool does between two tasks.
				Thread.interrupted();
			}
		}
	}

	private void handOver(Timer timer, Runnable task, Shard shard, long tick, @Nullable TimerList source) {
		// Tasks that name no executor are always tried, and wait together.
		Object key = UNNAMED;
		boolean called = true;
		try {
			RoutedTask routed = (task instanceof RoutedTask other) ? other : null;
			Executor executor = (routed != null)
					? Objects.requireNonNull(routed.executor(), "The task names no executor") : this.executor;
			key = executor;
			Gate closed = shard.gate(key);
			// This timer cannot wait if an executor that has refused it now runs it.
			if (closed != null && closed.holdsBack(source) && shard.letWait(timer, closed, closed.untried, tick)) {
				return;
			}
			if (routed != null) {
				called = routed.handOver(executor, timer);
			}
			else {
				executor.execute(timer);
			}
		}
		catch (Throwable ex) {
			// A timer that was cancelled or returned meanwhile was refused, too.
			if (timer.state() <= Timer.CANCELLED || letWait(timer, key, shard, tick, source)) {
				this.refused++;
				this.log.warn(Log.Warning.REFUSAL,
						"An executor has refused a task of the timing wheel. The task stays pending and is handed over again"
								+ " later. Give the executor more threads or a longer queue, or schedule fewer tasks",
						ex);
				return;
			}
			this.log.report(task, ex);
		}
		Gate gate = called ? shard.gate(key) : null;
		if (gate != null && gate.accept()) {
			try {
				plan(gate, Gate.MIN_PAUSE);
			}
			catch (OutOfMemoryError ex) {
				// The gate keeps its turn. This hand-over has succeeded, and must count.
			}
		}
		// The task or its executor may have stopped the wheel.
		if (timer.state() != Timer.RETURNED) {
			shard.handedOver(task instanceof WheelScheduledTask<?> scheduled && scheduled.isPeriodic());
		}
	}

	private boolean letWait(Timer timer, Object key, Shard shard, long tick, @Nullable TimerList source) {
		if (timer.state() != Timer.FIRED) {
			return false;
		}
		Gate gate = shard.gate(key);
		if (gate == null) {
			gate = new Gate(key, shard);
			plan(gate, Gate.MIN_PAUSE);
		}
		if (!shard.letWait(timer, gate, gate.listForRefused(), tick)) {
			return false;
		}
		gate.refuse(source);
		return true;
	}

	private void retry(long now) {
		tryAgain(now, null);
		if (this.nextRetry > now) {
			return;
		}
		Gate gate = Objects.requireNonNull(this.gates.get(this.gates.firstKey()));
		gate.beginRetry();
		int size = gate.size();
		TimerList list = gate.next();
		for (int i = 0; i < Math.min(size, RETRY_STEP) && list != null && !this.stopped; i++) {
			this.retried = gate.shard.takeWaiting(list, now);
			tryAgain(now, list);
			list = gate.next();
		}
		long pause = gate.endRetry(size > RETRY_STEP);
		// May fail for want of memory, and then the next turn does it.
		if (gate.shard.removeIfEmpty(gate)) {
			this.gates.remove(gate.turn);
			planNext();
		}
		else {
			plan(gate, pause);
		}
	}

	private void tryAgain(long now, @Nullable TimerList source) {
		Timer timer = this.retried;
		Shard shard = (timer != null) ? timer.shard() : null;
		if (timer != null && shard != null) {
			serve(timer, shard, now, source);
		}
		this.retried = null;
	}

	/** If there is no memory for the new turn, the gate keeps the old one. */
	private void plan(Gate gate, long pause) {
		long[] turn = { this.time.dueTick(this.time.elapsed(), pause), this.turns++ };
		this.gates.put(turn, gate);
		this.gates.remove(gate.turn);
		gate.turn = turn;
		planNext();
	}

	private void planNext() {
		this.nextRetry = this.gates.isEmpty() ? Wheel.NEVER : this.gates.firstKey()[0];
	}

	/**
	 * Collects all tasks that were not handed over. Waits for the end of the turn, unless
	 * called on the driver's thread. There it also collects the current task, unless this
	 * task has begun.
	 */
	void stop(ArrayList<Runnable> tasks, long waitNanos) {
		drain(tasks, false, null);
		boolean locked = lockTurn(waitNanos);
		try {
			drain(tasks, true, locked ? current() : null);
		}
		finally {
			if (locked) {
				this.turnLock.unlock();
			}
		}
	}

	/** The thread calls this when it ends. {@code stop} still returns the tasks. */
	void shut() {
		for (Shard shard : this.shards) {
			shard.shut();
		}
		this.stopped = true;
	}

	private void drain(ArrayList<Runnable> tasks, boolean last, @Nullable Timer current) {
		for (Shard shard : this.shards) {
			shard.drain(tasks, last, current);
		}
	}

	private @Nullable Timer current() {
		Chunk chunk = this.chunk;
		if (this.retried != null || chunk == null || this.index == chunk.size()) {
			return this.retried;
		}
		return chunk.get(this.index);
	}

	private boolean lockTurn(long waitNanos) {
		boolean interrupted = Thread.interrupted();
		boolean locked = this.turnLock.tryLock();
		long end = System.nanoTime() + waitNanos;
		for (long left = waitNanos; !locked && left > 0; left = end - System.nanoTime()) {
			try {
				locked = this.turnLock.tryLock(left, TimeUnit.NANOSECONDS);
			}
			catch (InterruptedException ex) {
				interrupted = true;
			}
		}
		if (interrupted) {
			Thread.currentThread().interrupt();
		}
		return locked;
	}

	long lagNanos() {
		long tick = nextHandOver();
		return (tick == Wheel.NEVER) ? 0 : Math.max(0, -this.time.nanosUntil(tick));
	}

}

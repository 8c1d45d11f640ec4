package io.timingwheel.spring.task.memory;

import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

import io.timingwheel.DirectTask;
import io.timingwheel.WheelSnapshot;
import io.timingwheel.spring.task.internal.PolicySettings;
import io.timingwheel.spring.task.internal.StartRate;
import org.jspecify.annotations.Nullable;

/**
 * Counts the tasks of one name that its policy lets start: the number of bodies at once,
 * in all or of one key, a rate, or a pause. A due task that may not start waits here,
 * without a timer, and stays in the map of {@link NamedTasks}. When it may start, it goes
 * back on the wheel, due now. Thread-safe.
 *
 * <p>
 * A task takes a {@link Permit} before it is handed over, or when it goes back on the
 * wheel, and gives it back when its body has ended. The task keeps the permit while its
 * executor refuses it. Until the body begins, the permit reserves one start of the rate,
 * so that an executor that is slow to begin cannot gather starts.
 *
 * <p>
 * While no task waits and only the number of all bodies is limited, permits are counted
 * without the lock. The map's lock of a key may be held when the lock of the gate is
 * taken, never the other way round. Under the lock of the gate only the wheel is called,
 * which calls no other code.
 */
final class StartGate {

	/** The state of {@link #quick} while every task takes the lock. */
	private static final int LOCKED = -1;

	private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

	private static final Comparator<PendingTask> BY_DUE = (first, second) -> {
		int byDue = Long.compare(first.dueNanos() - second.dueNanos(), 0);
		return (byDue != 0) ? byDue : Long.compare(first.sequence(), second.sequence());
	};

	private final NamedTasks tasks;

	/** How many permits are taken, {@link #returned} not subtracted, or LOCKED. */
	private final AtomicInteger quick = new AtomicInteger();

	/** The permits that came back without the lock. */
	private final AtomicInteger returned = new AtomicInteger();

	/** Whether tasks may wait, read after {@link #returned} was changed. */
	private volatile boolean locked;

	private volatile PolicySettings limits;

	private volatile boolean paused;

	/** A reset begins a new one. Permits of earlier ones no longer count. */
	private volatile int generation;

	/** Guards the fields below. */
	private final Lock lock = new ReentrantLock();

	/** How many permits are taken, while {@link #quick} does not say so. */
	private int taken;

	/** How many of them reserve a start of the rate. */
	private int reserved;

	/** How many of them are taken by a key, if a limit of keys is set. */
	private final Map<Object, Integer> takenByKey = new HashMap<>();

	/** The due tasks that may not start, but for those that wait for their key. */
	private final TreeSet<PendingTask> waiting = new TreeSet<>(BY_DUE);

	/** The tasks that wait for a run of their key. Only one task of a key is pending. */
	private final Map<Object, PendingTask> waitingForKey = new HashMap<>();

	/** The permits of the tasks that are back on the wheel, due now or refused. */
	private final Map<PendingTask, Permit> onWheel = new HashMap<>();

	/** When the next start is due if the starts are spread evenly. */
	private long nextStart;

	/** Cancels the look at the waiting tasks that is planned, {@code null} if none is. */
	private @Nullable Runnable wakeUp;

	private long wakeUpNanos;

	StartGate(NamedTasks tasks, PolicySettings limits) {
		this.tasks = tasks;
		this.limits = limits;
		reset();
	}

	/**
	 * Sets other limits. Bodies that run go on.
	 */
	void setLimits(PolicySettings limits) {
		change(() -> this.limits = limits);
	}

	/**
	 * Begins or ends a pause, during which no task starts.
	 */
	void setPaused(boolean paused) {
		change(() -> this.paused = paused);
	}

	/**
	 * Forgets the bodies that run, the starts that the rate counts, and a pause that the
	 * policy does not ask for.
	 */
	void reset() {
		change(() -> {
			this.generation++;
			this.taken = 0;
			this.reserved = 0;
			this.takenByKey.clear();
			this.onWheel.clear();
			this.nextStart = now();
			this.paused = this.limits.isPaused();
		});
	}

	private void change(Runnable change) {
		startWaiting(() -> {
			change.run();
			this.waiting.addAll(this.waitingForKey.values());
			this.waitingForKey.clear();
		});
	}

	boolean isPaused() {
		return this.paused;
	}

	/**
	 * How many due tasks wait.
	 */
	int waiting() {
		return locked(() -> this.waiting.size() + this.waitingForKey.size());
	}

	/**
	 * Whether a task is on the wheel with a permit, which belongs to its present due
	 * time.
	 */
	boolean isCalledUp(PendingTask task) {
		return this.locked && locked(() -> this.onWheel.containsKey(task));
	}

	/**
	 * Decides about a task that is due. The wheel's thread calls this.
	 * @return {@code null} if the task has to wait
	 */
	@Nullable Permit admit(PendingTask task) {
		int taken = this.quick.get();
		while (taken != LOCKED && taken < maxConcurrent()) {
			if (this.quick.compareAndSet(taken, taken + 1)) {
				return new Permit(task);
			}
			taken = this.quick.get();
		}
		Permit permit = locked(() -> permit(task));
		if (permit == null) {
			letWait(task, null);
		}
		return permit;
	}

	private @Nullable Permit permit(PendingTask task) {
		Permit kept = this.onWheel.remove(task);
		if (this.paused) {
			release(kept);
			return null;
		}
		boolean free = this.waiting.isEmpty() && this.taken < maxConcurrent() && isKeyFree(task.slot())
				&& startsLeft(now()) > 0;
		return (kept == null && free) ? take(task) : kept;
	}

	/**
	 * Lets a task wait, unless somebody has taken it out of the map.
	 */
	void letWait(PendingTask task, @Nullable Permit permit) {
		enter(task, permit);
		startWaiting(() -> {
		});
	}

	private void enter(PendingTask task, @Nullable Permit permit) {
		locked(() -> release(permit));
		this.tasks.pending().computeIfPresent(task.slot(), (slot, current) -> locked(() -> {
			if (current == task) {
				this.waiting.add(task);
			}
			return current;
		}));
	}

	/**
	 * Keeps a permit under the lock of the key, so that a thread that has not found it
	 * has tried to move the timer before the timer is pending again.
	 */
	private void keep(Permit permit) {
		PendingTask task = permit.task;
		boolean pending = this.tasks.pending().computeIfPresent(task.slot(), (slot, current) -> {
			if (current == task) {
				locked(() -> this.onWheel.put(task, permit));
			}
			return current;
		}) == task;
		if (!pending) {
			permit.giveBack();
		}
	}

	private boolean useStart(Permit permit) {
		boolean nextWaits = areStartsReserved();
		StartRate rate = this.limits.rate();
		permit.reserves = false;
		if (rate != null && permit.generation == this.generation) {
			this.reserved--;
			this.nextStart = rate.nextStart(this.nextStart, now());
			if (nextWaits && !this.paused && !this.waiting.isEmpty() && this.taken < maxConcurrent()) {
				wakeUpAtNextStart();
			}
		}
		return nextWaits;
	}

	private void giveBack(Permit permit) {
		if (permit.keyed || permit.reserves) {
			startWaiting(() -> release(permit));
		}
		else if (permit.end()) {
			this.returned.incrementAndGet();
			if (this.locked) {
				startWaiting(() -> {
				});
			}
		}
	}

	/**
	 * Forgets a task that leaves the map, under the lock of its key.
	 */
	void withdraw(PendingTask task) {
		if (this.locked) {
			locked(() -> {
				this.waitingForKey.remove(task.slot(), task);
				this.waiting.remove(task);
				boolean freed = release(this.onWheel.remove(task));
				if (freed) {
					wakeUpAt(now());
				}
				return freed;
			});
		}
	}

	/**
	 * Calls code under the lock, and decides whether the next task needs the lock too.
	 */
	private <T extends @Nullable Object> T locked(Supplier<T> action) {
		this.lock.lock();
		try {
			this.locked = true;
			int quick = this.quick.getAndSet(LOCKED);
			this.taken = Math.max(0, ((quick != LOCKED) ? quick : this.taken) - this.returned.getAndSet(0));
			T result = action.get();
			if (!this.paused && this.waiting.isEmpty() && this.waitingForKey.isEmpty() && this.onWheel.isEmpty()
					&& this.limits.rate() == null && this.limits.maxConcurrentPerKey() == null) {
				this.quick.set(this.taken);
				this.locked = false;
			}
			return result;
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Changes the state, and then puts the first waiting tasks back on the wheel, as far
	 * as there are permits. The caller holds no lock.
	 */
	private void startWaiting(Runnable change) {
		Permit next = locked(() -> {
			change.run();
			return takeNext();
		});
		while (next != null && start(next)) {
			next = locked(this::takeNext);
		}
	}

	/**
	 * Puts a task back on the wheel. If the wheel has no room, hands the task over; if
	 * the executor refuses it too, the task waits.
	 */
	private boolean start(Permit permit) {
		PendingTask task = permit.task;
		try {
			if (!task.callUp()) {
				locked(() -> release(this.onWheel.remove(task)));
			}
			return true;
		}
		catch (RejectedExecutionException ex) {
			locked(() -> this.onWheel.remove(task));
		}
		try {
			task.handOver(task.executor(), permit);
			return true;
		}
		catch (RejectedExecutionException ex) {
			enter(task, permit);
			wakeUpLater(RETRY_NANOS);
			return false;
		}
	}

	/**
	 * Takes the first waiting task out.
	 * @return its permit, {@code null} if none may start now
	 */
	private @Nullable Permit takeNext() {
		while (!this.paused && !this.waiting.isEmpty() && this.taken < maxConcurrent()) {
			if (startsLeft(now()) <= 0) {
				wakeUpAtNextStart();
				return null;
			}
			PendingTask next = this.waiting.pollFirst();
			if (isKeyFree(next.slot())) {
				Permit permit = take(next);
				this.onWheel.put(next, permit);
				return permit;
			}
			this.waitingForKey.put(next.slot(), next);
		}
		return null;
	}

	private int maxConcurrent() {
		Integer max = this.limits.maxConcurrent();
		return (max != null) ? max : Integer.MAX_VALUE;
	}

	private boolean isKeyFree(Object slot) {
		Integer max = this.limits.maxConcurrentPerKey();
		return max == null || this.takenByKey.getOrDefault(slot, 0) < max;
	}

	private long startsLeft(long now) {
		StartRate rate = this.limits.rate();
		return (rate != null) ? rate.startsAllowed(this.nextStart, now) - this.reserved : 1;
	}

	/**
	 * Whether the tasks that have not begun use up all starts that the rate allows at
	 * once. Then no time brings the next start, but the begin of one of them.
	 */
	private boolean areStartsReserved() {
		StartRate rate = this.limits.rate();
		return rate != null && this.reserved >= rate.burst();
	}

	private Permit take(PendingTask task) {
		Permit permit = new Permit(task);
		this.taken++;
		if (this.limits.rate() != null) {
			permit.reserves = true;
			this.reserved++;
		}
		if (this.limits.maxConcurrentPerKey() != null) {
			permit.keyed = true;
			this.takenByKey.merge(task.slot(), 1, Integer::sum);
		}
		return permit;
	}

	/**
	 * Takes a permit back.
	 * @return whether a permit is free now
	 */
	private boolean release(@Nullable Permit permit) {
		if (permit == null || !permit.end()) {
			return false;
		}
		this.taken--;
		this.reserved -= permit.reserves ? 1 : 0;
		if (permit.keyed) {
			Object slot = permit.task.slot();
			this.takenByKey.computeIfPresent(slot, (key, taken) -> (taken > 1) ? taken - 1 : null);
			PendingTask next = this.waitingForKey.remove(slot);
			if (next != null) {
				this.waiting.add(next);
			}
		}
		return true;
	}

	private void wakeUpAtNextStart() {
		StartRate rate = this.limits.rate();
		if (rate != null && !areStartsReserved()) {
			wakeUpAt(rate.allowedFrom(this.nextStart, this.reserved + 1));
		}
	}

	/**
	 * Plans a look at the waiting tasks, unless one is planned that comes no later.
	 */
	private void wakeUpAt(long nanos) {
		Runnable planned = this.wakeUp;
		if (planned != null && this.wakeUpNanos - nanos <= 0) {
			return;
		}
		this.wakeUp = planWakeUp(nanos);
		this.wakeUpNanos = nanos;
		if (planned != null) {
			planned.run();
		}
	}

	private Runnable planWakeUp(long nanos) {
		try {
			DirectTask wakeUp = this::wakeUp;
			return this.tasks.environment().wheel().scheduleAt(wakeUp, nanos)::cancel;
		}
		catch (RejectedExecutionException ex) {
			// The wheel is full.
			wakeUpLater(Math.max(nanos - now(), RETRY_NANOS));
			return () -> {
			};
		}
	}

	/**
	 * Looks again without the wheel, unless the wheel has ended.
	 */
	private void wakeUpLater(long delayNanos) {
		TaskEnvironment environment = this.tasks.environment();
		if (environment.wheel().snapshot().state() == WheelSnapshot.State.RUNNING) {
			CompletableFuture.delayedExecutor(delayNanos, TimeUnit.NANOSECONDS, environment.handOvers().completions())
				.execute(this::wakeUp);
		}
	}

	private void wakeUp() {
		startWaiting(() -> this.wakeUp = null);
	}

	private long now() {
		return this.tasks.environment().clock().nanoTime();
	}

	/**
	 * Lets one task start. An executor gets the permit in place of the task, and runs it.
	 */
	final class Permit extends AtomicInteger implements Runnable {

		private static final long serialVersionUID = 1L;

		private static final int TAKEN = 0;

		private static final int BEGUN = 1;

		private static final int RETURNED = 2;

		private final transient PendingTask task;

		private final int generation;

		private boolean reserves;

		private boolean keyed;

		Permit(PendingTask task) {
			super(TAKEN);
			this.task = task;
			this.generation = StartGate.this.generation;
		}

		@Override
		public void run() {
			this.task.run(this);
		}

		/**
		 * Whether this call begins the run. An executor that has refused the task may run
		 * it nevertheless.
		 */
		boolean begin() {
			return compareAndSet(TAKEN, BEGUN);
		}

		/**
		 * Records that the body begins, which uses up one start of the rate.
		 */
		void bodyBegins() {
			if (this.reserves) {
				locked(() -> useStart(this));
			}
		}

		/**
		 * Keeps this permit, since the executor has refused the task. The wheel tries
		 * again.
		 */
		void keep() {
			StartGate.this.keep(this);
		}

		/**
		 * Ends the use of this permit. The task that has waited for it starts.
		 */
		void giveBack() {
			StartGate.this.giveBack(this);
		}

		/**
		 * Ends the use of this permit.
		 * @return {@code false} if it no longer counts
		 */
		private boolean end() {
			return getAndSet(RETURNED) != RETURNED && this.generation == StartGate.this.generation;
		}

	}

}

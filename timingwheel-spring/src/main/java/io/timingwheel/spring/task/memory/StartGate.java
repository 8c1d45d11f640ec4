package io.timingwheel.spring.task.memory;

import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

import io.timingwheel.DirectTask;
import io.timingwheel.RoutedTask;
import io.timingwheel.TimerHandle;
import io.timingwheel.WheelSnapshot;
import io.timingwheel.spring.task.internal.PolicySettings;
import io.timingwheel.spring.task.internal.StartRate;
import org.jspecify.annotations.Nullable;

/**
 * Counts the tasks of one name that its policy lets start: the number of bodies at once,
 * in all or of one key, a rate, or a pause. A due task that may not start waits here,
 * without a timer, and stays in the map of {@link NamedTasks}. When it may start, it goes
 * back on the wheel, due now, with a {@link Permit}. Thread-safe.
 *
 * <p>
 * A task gives its permit back when its body has ended, and keeps it while its executor
 * refuses. Until the body begins, the permit reserves one start of the rate, so that an
 * executor that is slow to begin cannot gather starts.
 *
 * <p>
 * While no task waits and only the number of all bodies is limited, permits are counted
 * without the lock. The map's lock of a key may be held when the lock of the gate is
 * taken, never the other way round. Under the lock of the gate only the wheel is called.
 */
final class StartGate {

	private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

	private static final Comparator<PendingTask> BY_DUE = (first, second) -> {
		int byDue = Long.compare(first.dueNanos() - second.dueNanos(), 0);
		return (byDue != 0) ? byDue : Long.compare(first.sequence(), second.sequence());
	};

	private final NamedTasks tasks;

	/** How many permits are taken. */
	private final AtomicInteger taken = new AtomicInteger();

	/**
	 * Whether tasks need the lock. A thread that gives a permit back looks at this after
	 * it has counted, and a task that waits sets it before it looks at the count, so one
	 * of them starts the task.
	 */
	private volatile boolean locked;

	private volatile PolicySettings limits;

	private volatile boolean paused;

	/** A reset begins a new one. Permits of earlier ones no longer count. */
	private volatile int generation;

	/** Guards the fields below. */
	private final Lock lock = new ReentrantLock();

	/** How many permits reserve a start of the rate. */
	private int reserved;

	/** How many permits are taken by a key, if a limit of keys is set. */
	private final Map<Object, Integer> takenByKey = new HashMap<>();

	/** The due tasks that may not start, but for those that wait for their key. */
	private final TreeSet<PendingTask> waiting = new TreeSet<>(BY_DUE);

	/** The tasks that wait for a run of their key. Only one task of a key is pending. */
	private final Map<Object, PendingTask> waitingForKey = new HashMap<>();

	/** When the next start is due if the starts are spread evenly. */
	private long nextStart;

	/** The planned look at the waiting tasks. */
	private @Nullable TimerHandle wakeUp;

	private long wakeUpNanos;

	StartGate(NamedTasks tasks, PolicySettings limits) {
		this.tasks = tasks;
		this.limits = limits;
		reset();
	}

	/** Sets other limits. Bodies that run go on. */
	void setLimits(PolicySettings limits) {
		change(() -> this.limits = limits);
	}

	void setPaused(boolean paused) {
		change(() -> this.paused = paused);
	}

	/** Forgets bodies, starts, and a pause that the policy does not ask for. */
	void reset() {
		change(() -> {
			this.generation++;
			this.taken.set(0);
			this.reserved = 0;
			this.takenByKey.clear();
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

	int waiting() {
		return locked(() -> this.waiting.size() + this.waitingForKey.size());
	}

	/**
	 * Hands over a task that is due; {@code false} if the task waits, or is back on the
	 * wheel.
	 */
	boolean handOver(PendingTask task, Executor executor) {
		Permit permit = (!this.locked && tryTake()) ? new Permit(task) : locked(() -> take(task));
		if (permit == null) {
			letWait(task, null);
			return false;
		}
		try {
			return permit.handOver(executor, permit);
		}
		catch (RejectedExecutionException ex) {
			start(permit);
			return false;
		}
	}

	private boolean tryTake() {
		Integer max = this.limits.maxConcurrent();
		int taken = this.taken.get();
		while (max == null || taken < max) {
			if (this.taken.compareAndSet(taken, taken + 1)) {
				return true;
			}
			taken = this.taken.get();
		}
		return false;
	}

	private @Nullable Permit take(PendingTask task) {
		if (this.paused || !this.waiting.isEmpty() || !isKeyFree(task.slot()) || startsLeft() <= 0 || !tryTake()) {
			return null;
		}
		return permit(task);
	}

	/** Lets a task wait, unless somebody has taken it out of the map. */
	void letWait(PendingTask task, @Nullable Permit permit) {
		enter(task, permit);
		wakeUp();
	}

	private void enter(PendingTask task, @Nullable Permit permit) {
		locked(() -> release(permit));
		this.tasks.update(task, (current) -> {
			locked(() -> this.waiting.add(current));
			return true;
		});
	}

	/** Uses up one start of the rate, since a body begins. */
	private boolean useStart(Permit permit) {
		StartRate rate = this.limits.rate();
		permit.reserves = false;
		if (rate != null && permit.generation == this.generation) {
			this.reserved--;
			this.nextStart = rate.nextStart(this.nextStart, now());
			wakeUpAtNextStart();
		}
		return true;
	}

	private void giveBack(Permit permit) {
		if (permit.keyed || permit.reserves) {
			startWaiting(() -> release(permit));
		}
		else if (permit.end()) {
			this.taken.decrementAndGet();
			if (this.locked) {
				wakeUp();
			}
		}
	}

	/** Forgets a task that leaves the map, under the lock of its key. */
	void withdraw(PendingTask task, @Nullable Permit permit) {
		boolean onWheel = permit != null && permit.cancelTimer();
		if (onWheel || this.locked) {
			locked(() -> {
				this.waitingForKey.remove(task.slot(), task);
				this.waiting.remove(task);
				boolean freed = onWheel && release(permit);
				if (freed && !this.waiting.isEmpty()) {
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
			T result = action.get();
			this.locked = this.paused || !this.waiting.isEmpty() || !this.waitingForKey.isEmpty()
					|| this.limits.rate() != null || this.limits.maxConcurrentPerKey() != null;
			return result;
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Changes the state, and then puts waiting tasks back on the wheel. Without a lock.
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
	 * Puts a task back on the wheel or, if the wheel is full, hands it over or lets it
	 * wait.
	 */
	private boolean start(Permit permit) {
		PendingTask task = permit.task;
		try {
			if (!this.tasks.update(task, (current) -> current.callUp(permit))) {
				locked(() -> release(permit));
			}
			return true;
		}
		catch (RejectedExecutionException ex) {
			// The wheel is full.
		}
		try {
			return permit.handOver(task.executor(), permit);
		}
		catch (RejectedExecutionException ex) {
			enter(task, permit);
			wakeUpLater(RETRY_NANOS);
			return false;
		}
	}

	/** Takes the first waiting task out, if one may start now. */
	private @Nullable Permit takeNext() {
		while (!this.paused && !this.waiting.isEmpty()) {
			if (!isKeyFree(this.waiting.first().slot())) {
				PendingTask next = this.waiting.pollFirst();
				this.waitingForKey.put(next.slot(), next);
			}
			else if (startsLeft() <= 0) {
				wakeUpAtNextStart();
				return null;
			}
			else {
				return tryTake() ? permit(this.waiting.pollFirst()) : null;
			}
		}
		return null;
	}

	private boolean isKeyFree(Object slot) {
		Integer max = this.limits.maxConcurrentPerKey();
		return max == null || this.takenByKey.getOrDefault(slot, 0) < max;
	}

	private long startsLeft() {
		StartRate rate = this.limits.rate();
		return (rate != null) ? rate.startsAllowed(this.nextStart, now()) - this.reserved : 1;
	}

	private Permit permit(PendingTask task) {
		Permit permit = new Permit(task);
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

	private boolean release(@Nullable Permit permit) {
		if (permit == null || !permit.end()) {
			return false;
		}
		this.taken.decrementAndGet();
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

	/**
	 * Plans a look at the waiting tasks when the rate allows the next start. If tasks
	 * that have not begun reserve all starts, no time brings the next one, but the begin
	 * of one of them.
	 */
	private void wakeUpAtNextStart() {
		StartRate rate = this.limits.rate();
		Integer max = this.limits.maxConcurrent();
		if (rate != null && this.reserved < rate.burst() && !this.paused && !this.waiting.isEmpty()
				&& (max == null || this.taken.get() < max)) {
			wakeUpAt(rate.allowedFrom(this.nextStart, this.reserved + 1));
		}
	}

	/** Plans a look at the waiting tasks, unless one is planned that comes no later. */
	private void wakeUpAt(long nanos) {
		TimerHandle planned = this.wakeUp;
		if (planned != null && planned.isPending() && this.wakeUpNanos - nanos <= 0) {
			return;
		}
		this.wakeUpNanos = nanos;
		if (planned != null && planned.rescheduleAt(nanos)) {
			return;
		}
		try {
			DirectTask look = this::wakeUp;
			this.wakeUp = this.tasks.environment().wheel().scheduleAt(look, nanos);
		}
		catch (RejectedExecutionException ex) {
			// The wheel is full.
			wakeUpLater(Math.max(nanos - now(), RETRY_NANOS));
		}
	}

	/** Looks again without the wheel, unless the wheel has ended. */
	private void wakeUpLater(long delayNanos) {
		TaskEnvironment environment = this.tasks.environment();
		if (environment.wheel().snapshot().state() == WheelSnapshot.State.RUNNING) {
			CompletableFuture.delayedExecutor(delayNanos, TimeUnit.NANOSECONDS, environment.handOvers().completions())
				.execute(this::wakeUp);
		}
	}

	private void wakeUp() {
		startWaiting(() -> {
		});
	}

	private long now() {
		return this.tasks.environment().clock().nanoTime();
	}

	/**
	 * Lets one task start. The executor, and the wheel if the task has waited or was
	 * refused, get the permit in place of the task.
	 */
	final class Permit extends AtomicInteger implements RoutedTask {

		private static final long serialVersionUID = 1L;

		private static final int TAKEN = 0;

		private static final int BEGUN = 1;

		private static final int RETURNED = 2;

		private final transient PendingTask task;

		private final int generation;

		private boolean reserves;

		private boolean keyed;

		/** The timer of this permit on the wheel, guarded by the lock of the key. */
		private transient @Nullable TimerHandle timer;

		Permit(PendingTask task) {
			super(TAKEN);
			this.task = task;
			this.generation = StartGate.this.generation;
		}

		void setTimer(TimerHandle timer) {
			this.timer = timer;
		}

		boolean cancelTimer() {
			return this.timer != null && this.timer.cancel();
		}

		@Override
		public Executor executor() {
			return this.task.executor();
		}

		@Override
		public boolean handOver(Executor executor, Runnable timer) {
			this.task.handOver(executor, this, this);
			return true;
		}

		@Override
		public void run() {
			this.task.run(this);
		}

		/**
		 * Whether this call begins the run: an executor that has refused may run it too.
		 */
		boolean begin() {
			return compareAndSet(TAKEN, BEGUN);
		}

		void bodyBegins() {
			if (this.reserves) {
				locked(() -> useStart(this));
			}
		}

		/** Ends the use of this permit. The task that has waited for it starts. */
		void giveBack() {
			StartGate.this.giveBack(this);
		}

		/** Whether the permit still counted. */
		private boolean end() {
			return getAndSet(RETURNED) != RETURNED && this.generation == StartGate.this.generation;
		}

	}

}

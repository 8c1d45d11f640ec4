package io.timingwheel.spring.task.support;

import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

import io.timingwheel.DirectTask;
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
 * A task takes a permit before it is handed over, or when it goes back on the wheel, and
 * gives it back when its body has ended. The task keeps the permit while its executor
 * refuses it. Until the body begins, the permit reserves one start of the rate, so that
 * an executor that is slow to begin cannot gather starts.
 *
 * <p>
 * The map's lock of a key may be held when the lock of the gate is taken, never the other
 * way round. Under the lock of the gate only the wheel is called, which calls no other
 * code.
 */
final class StartGate {

	private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

	private static final Comparator<PendingTask> BY_DUE = (first, second) -> {
		int byDue = Long.compare(first.dueNanos() - second.dueNanos(), 0);
		return (byDue != 0) ? byDue : Long.compare(first.sequence(), second.sequence());
	};

	private final NamedTasks tasks;

	private final Lock lock = new ReentrantLock();

	// The lock guards all fields. A pause is also read without it.

	private PolicySettings limits;

	private volatile boolean paused;

	/** The due tasks that may not start, but for those that wait for their key. */
	private final TreeSet<PendingTask> waiting = new TreeSet<>(BY_DUE);

	/** The tasks that wait for a run of their key. Only one task of a key is pending. */
	private final Map<Object, PendingTask> waitingForKey = new HashMap<>();

	/** The tasks that have a permit and have not begun. */
	private final Set<PendingTask> admitted = new HashSet<>();

	private final Set<TaskRun> running = new HashSet<>();

	/** How many permits of a key are taken, if a limit of keys is set. */
	private final Map<Object, Integer> takenByKey = new HashMap<>();

	/** When the next start is due if the starts are spread evenly. */
	private long nextStart;

	/** Cancels the look at the waiting tasks that is planned, {@code null} if none is. */
	private @Nullable Runnable wakeUp;

	private long wakeUpNanos;

	StartGate(NamedTasks tasks, PolicySettings limits) {
		this.tasks = tasks;
		this.limits = limits;
		this.paused = limits.isPaused();
		this.nextStart = now();
	}

	/**
	 * Sets other limits. Bodies that run go on.
	 */
	void setLimits(PolicySettings limits) {
		change(() -> {
			this.limits = limits;
			this.takenByKey.clear();
			if (limits.maxConcurrentPerKey() != null) {
				this.admitted.forEach((task) -> takeKey(task.slot()));
				this.running.forEach((run) -> takeKey(run.slot()));
			}
		});
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
			this.admitted.clear();
			this.running.clear();
			this.takenByKey.clear();
			this.nextStart = now();
			this.paused = this.limits.isPaused();
		});
	}

	private void change(Runnable change) {
		this.lock.lock();
		try {
			change.run();
			this.waiting.addAll(this.waitingForKey.values());
			this.waitingForKey.clear();
		}
		finally {
			this.lock.unlock();
		}
		startWaiting();
	}

	boolean isPaused() {
		return this.paused;
	}

	/**
	 * How many due tasks wait.
	 */
	long waiting() {
		this.lock.lock();
		try {
			return this.waiting.size() + this.waitingForKey.size();
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Whether a task is due and has not begun: it waits, or has a permit.
	 */
	boolean holds(PendingTask task) {
		this.lock.lock();
		try {
			return this.admitted.contains(task) || this.waiting.contains(task)
					|| this.waitingForKey.get(task.slot()) == task;
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Moves the timer of a task, unless the task has a permit, which belongs to the
	 * present due time.
	 * @return whether the timer has moved
	 */
	boolean move(PendingTask task, BooleanSupplier move) {
		this.lock.lock();
		try {
			return !holds(task) && move.getAsBoolean();
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Decides about a task that is due. The wheel's thread calls this.
	 * @return {@code false} if the task has to wait
	 */
	boolean admit(PendingTask task) {
		this.lock.lock();
		try {
			if (!this.paused && (this.admitted.contains(task) || mayStartAtOnce(task))) {
				return true;
			}
		}
		finally {
			this.lock.unlock();
		}
		letWait(task);
		return false;
	}

	private boolean mayStartAtOnce(PendingTask task) {
		if (!this.waiting.isEmpty() || !isPermitFree() || !isKeyFree(task.slot()) || startsLeft(now()) <= 0) {
			return false;
		}
		take(task);
		return true;
	}

	/**
	 * Lets a task wait, unless somebody has taken it out of the map.
	 */
	void letWait(PendingTask task) {
		enter(task);
		startWaiting();
	}

	private void enter(PendingTask task) {
		giveBack(task);
		this.tasks.pending().computeIfPresent(task.slot(), (slot, current) -> {
			if (current == task) {
				this.lock.lock();
				try {
					this.waiting.add(task);
				}
				finally {
					this.lock.unlock();
				}
			}
			return current;
		});
	}

	/**
	 * Takes back the permit of a task that has left the map before it began, and starts
	 * the tasks that waited.
	 */
	void leave(PendingTask task) {
		giveBack(task);
		startWaiting();
	}

	private void giveBack(PendingTask task) {
		this.lock.lock();
		try {
			if (this.admitted.remove(task)) {
				releaseKey(task.slot());
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Forgets a task that leaves the map, under the lock of its key.
	 * @param onWheel whether the task was on the wheel, so that no executor gets it
	 */
	void withdraw(PendingTask task, boolean onWheel) {
		this.lock.lock();
		try {
			this.waiting.remove(task);
			this.waitingForKey.remove(task.slot(), task);
			if (onWheel && this.admitted.contains(task)) {
				giveBack(task);
				wakeUpAt(now());
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Records that a body begins, which uses up one start of the rate.
	 */
	void begun(PendingTask task, TaskRun run) {
		this.lock.lock();
		try {
			boolean nextWaits = areStartsReserved();
			if (this.admitted.remove(task)) {
				this.running.add(run);
				StartRate rate = this.limits.rate();
				if (rate != null) {
					this.nextStart = rate.nextStart(this.nextStart, now());
					if (nextWaits && !this.paused && !this.waiting.isEmpty() && isPermitFree()) {
						wakeUpAtNextStart();
					}
				}
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Takes back the permit of a body that has ended, and starts the tasks that waited.
	 */
	void ended(TaskRun run) {
		this.lock.lock();
		try {
			if (!this.running.remove(run)) {
				return;
			}
			releaseKey(run.slot());
		}
		finally {
			this.lock.unlock();
		}
		startWaiting();
	}

	/**
	 * Puts the first waiting tasks back on the wheel, as far as there are permits. The
	 * caller holds no lock.
	 */
	void startWaiting() {
		for (PendingTask task = takeNext(); task != null; task = takeNext()) {
			try {
				if (!task.callUp()) {
					giveBack(task);
				}
			}
			catch (RejectedExecutionException ex) {
				if (!handOverWithoutWheel(task)) {
					return;
				}
			}
		}
	}

	/**
	 * Hands a task over for which the wheel has no room. If the executor refuses the task
	 * too, it waits.
	 */
	private boolean handOverWithoutWheel(PendingTask task) {
		try {
			this.tasks.environment().handOvers().handOver(task.executor(), task, task::fail);
			return true;
		}
		catch (RejectedExecutionException ex) {
			enter(task);
			wakeUpLater(RETRY_NANOS);
			return false;
		}
	}

	/**
	 * Takes the first waiting task out, with a permit.
	 * @return the task, {@code null} if none may start now
	 */
	private @Nullable PendingTask takeNext() {
		this.lock.lock();
		try {
			while (!this.paused && !this.waiting.isEmpty() && isPermitFree()) {
				if (startsLeft(now()) <= 0) {
					wakeUpAtNextStart();
					return null;
				}
				PendingTask next = this.waiting.pollFirst();
				if (isKeyFree(next.slot())) {
					take(next);
					return next;
				}
				this.waitingForKey.put(next.slot(), next);
			}
			return null;
		}
		finally {
			this.lock.unlock();
		}
	}

	private boolean isPermitFree() {
		Integer max = this.limits.maxConcurrent();
		return max == null || this.admitted.size() + this.running.size() < max;
	}

	private boolean isKeyFree(Object slot) {
		Integer max = this.limits.maxConcurrentPerKey();
		return max == null || this.takenByKey.getOrDefault(slot, 0) < max;
	}

	private long startsLeft(long now) {
		StartRate rate = this.limits.rate();
		return (rate != null) ? rate.startsAllowed(this.nextStart, now) - this.admitted.size() : 1;
	}

	/**
	 * Whether the tasks that have a permit and have not begun use up all starts that the
	 * rate allows at once. Then no time brings the next start, but the begin of one of
	 * them.
	 */
	private boolean areStartsReserved() {
		StartRate rate = this.limits.rate();
		return rate != null && this.admitted.size() >= rate.burst();
	}

	private void take(PendingTask task) {
		this.admitted.add(task);
		if (this.limits.maxConcurrentPerKey() != null) {
			takeKey(task.slot());
		}
	}

	private void takeKey(Object slot) {
		this.takenByKey.merge(slot, 1, Integer::sum);
	}

	private void releaseKey(Object slot) {
		this.takenByKey.computeIfPresent(slot, (key, taken) -> (taken > 1) ? taken - 1 : null);
		PendingTask next = this.waitingForKey.remove(slot);
		if (next != null) {
			this.waiting.add(next);
		}
	}

	private void wakeUpAtNextStart() {
		StartRate rate = this.limits.rate();
		if (rate != null && !areStartsReserved()) {
			wakeUpAt(rate.allowedFrom(this.nextStart, this.admitted.size() + 1));
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

	private void wakeUpLater(long delayNanos) {
		CompletableFuture
			.delayedExecutor(delayNanos, TimeUnit.NANOSECONDS, this.tasks.environment().handOvers().completions())
			.execute(this::wakeUp);
	}

	private void wakeUp() {
		this.lock.lock();
		try {
			this.wakeUp = null;
		}
		finally {
			this.lock.unlock();
		}
		startWaiting();
	}

	private long now() {
		return this.tasks.environment().clock().nanoTime();
	}

}

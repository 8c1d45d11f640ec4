package io.timingwheel.spring.task.memory;

import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

import io.timingwheel.DirectTask;
import io.timingwheel.TimerHandle;
import io.timingwheel.WheelSnapshot;
import io.timingwheel.spring.task.internal.PolicySettings;
import io.timingwheel.spring.task.internal.PolicySettings.StartRate;
import io.timingwheel.spring.task.memory.NamedTasks.TaskEnvironment;
import org.jspecify.annotations.Nullable;

/**
 * Lets the tasks of one name start as their policy says. A due task that may not start
 * waits here, without a timer, and stays in the map of {@link NamedTasks}. When it may
 * start, it gets a permit and goes back on the wheel, due now. Thread-safe.
 *
 * <p>
 * A task keeps its permit while its executor refuses, and gives it back when it leaves
 * the map or when its body has ended. Until the body begins, the permit reserves one
 * start of the rate, so that an executor that is slow to begin cannot gather starts.
 *
 * <p>
 * The map's lock of a key may be held when the lock of the gate is taken, never the other
 * way round. Under the lock of the gate only the wheel is called.
 */
final class StartGate {

	private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

	private static final Comparator<PendingTask> BY_DUE = (first, second) -> {
		int byDue = Long.compare(first.dueNanos - second.dueNanos, 0);
		return (byDue != 0) ? byDue : Long.compare(first.sequence, second.sequence);
	};

	private final NamedTasks tasks;

	private final Lock lock = new ReentrantLock();

	/** Whether tasks wait, or would have to, also if the policy does not say so. */
	private volatile boolean holdsBack;

	/** The counts under the present policy. Permits of earlier ones no longer matter. */
	private volatile Permits permits;

	volatile boolean paused;

	/** The due tasks that may not start; guarded by the lock. */
	private final TreeSet<PendingTask> waiting = new TreeSet<>(BY_DUE);

	/** The planned look at the waiting tasks; guarded by the lock. */
	private @Nullable TimerHandle look;

	private long lookNanos;

	StartGate(NamedTasks tasks) {
		this.tasks = tasks;
		this.permits = new Permits(tasks.policy, now());
	}

	/**
	 * Begins to count by the present policy. Bodies that run go on, and do not count.
	 * @param paused whether there is a pause, also if the policy does not ask for it
	 */
	void countAnew(boolean paused) {
		startWaiting(() -> {
			PolicySettings policy = this.tasks.policy;
			this.permits = new Permits(policy, now());
			this.paused = paused || policy.isPaused();
		});
	}

	void setPaused(boolean paused) {
		startWaiting(() -> this.paused = paused);
	}

	int waiting() {
		return locked(this.waiting::size);
	}

	/** Whether a due task may have to wait. A task that never has to needs no permit. */
	boolean mayHoldBack() {
		return this.holdsBack || this.tasks.policy.limitsStarts();
	}

	/**
	 * Gives a due task a permit, if it has none; {@code false} if it has to wait, or is
	 * no longer in the map.
	 */
	boolean admit(PendingTask task) {
		Permits permits = this.tasks.read(task.slot, (current) -> (current == task) ? permitsOf(task) : null);
		if (permits == null) {
			startWaiting();
		}
		return permits != null;
	}

	private @Nullable Permits permitsOf(PendingTask task) {
		Permits permits = task.permits();
		if (permits == null) {
			permits = locked(() -> takeOrWait(task));
			task.setPermits(permits);
		}
		return permits;
	}

	private @Nullable Permits takeOrWait(PendingTask task) {
		if (first() == null && take(task)) {
			return this.permits;
		}
		this.waiting.add(task);
		return null;
	}

	/** Lets a task wait, without its permit, unless it is no longer in the map. */
	void letWait(PendingTask task) {
		this.tasks.update(task, (current) -> {
			locked(() -> {
				this.waiting.add(current);
				release(current);
				lookAt(now());
				return null;
			});
			return true;
		});
	}

	void withdraw(PendingTask task) {
		if (task.permits() != null || this.holdsBack) {
			locked(() -> {
				this.waiting.remove(task);
				if (release(task) && !this.waiting.isEmpty()) {
					lookAt(now());
				}
				return null;
			});
		}
	}

	private static boolean release(PendingTask task) {
		Permits permits = task.permits();
		if (permits != null) {
			permits.giveBack(task.slot, true);
			task.setPermits(null);
		}
		return permits != null;
	}

	void bodyBegins(Permits permits) {
		if (permits.countsStarts()) {
			startWaiting(() -> permits.useStart(now()));
		}
	}

	void giveBack(Permits permits, Object slot, boolean reserves) {
		startWaiting(() -> permits.giveBack(slot, reserves));
	}

	private <T extends @Nullable Object> T locked(Supplier<T> action) {
		this.lock.lock();
		try {
			T result = action.get();
			this.holdsBack = this.paused || !this.waiting.isEmpty();
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
		Start next = locked(() -> {
			change.run();
			return takeNext();
		});
		while (next != null && start(next.task(), next.permits())) {
			next = locked(this::takeNext);
		}
	}

	private void startWaiting() {
		startWaiting(() -> {
		});
	}

	private @Nullable Start takeNext() {
		PendingTask next = first();
		if (next == null || !take(next)) {
			return null;
		}
		this.waiting.remove(next);
		return new Start(next, this.permits);
	}

	/**
	 * Puts a task back on the wheel or, if the wheel is full, hands it over or lets it
	 * wait.
	 */
	private boolean start(PendingTask task, Permits permits) {
		Boolean onWheel = this.tasks.read(task.slot, (current) -> (current == task) ? task.callUp(permits) : null);
		if (onWheel == null) {
			startWaiting(() -> permits.giveBack(task.slot, true));
			return false;
		}
		try {
			return onWheel || task.handOver(task.executor(), task);
		}
		catch (RejectedExecutionException ex) {
			letWait(task);
			return false;
		}
	}

	/** The first task that waits for none of its own key. */
	private @Nullable PendingTask first() {
		for (PendingTask task : this.waiting) {
			if (this.permits.isKeyFree(task.slot)) {
				return task;
			}
		}
		return null;
	}

	private boolean take(PendingTask task) {
		if (this.paused) {
			return false;
		}
		if (this.permits.tryTake(task.slot, now())) {
			return true;
		}
		Long nextStart = this.permits.nextStart();
		if (nextStart != null && nextStart - now() > 0) {
			lookAt(nextStart);
		}
		return false;
	}

	/** Plans a look at the waiting tasks, unless one is planned that comes no later. */
	private void lookAt(long nanos) {
		TimerHandle planned = this.look;
		if (planned != null && planned.isPending() && this.lookNanos - nanos <= 0) {
			return;
		}
		this.lookNanos = nanos;
		if (planned != null && planned.rescheduleAt(nanos)) {
			return;
		}
		try {
			DirectTask look = this::startWaiting;
			this.look = this.tasks.environment.wheel().scheduleAt(look, nanos);
		}
		catch (RejectedExecutionException ex) {
			// The wheel is full.
			lookLater(Math.max(nanos - now(), RETRY_NANOS));
		}
	}

	/** Looks again without the wheel, unless the wheel has ended. */
	private void lookLater(long delayNanos) {
		TaskEnvironment environment = this.tasks.environment;
		if (environment.wheel().snapshot().state() == WheelSnapshot.State.RUNNING) {
			CompletableFuture.delayedExecutor(delayNanos, TimeUnit.NANOSECONDS, environment.handOvers().completions())
				.execute(this::startWaiting);
		}
	}

	private long now() {
		return this.tasks.environment.clock().nanoTime();
	}

	private record Start(PendingTask task, Permits permits) {

	}

	/**
	 * Counts the permits that were taken under one set of limits. Other limits begin with
	 * new counts.
	 *
	 * <pre>
	 *                                       taken  of its key  reserved  next start
	 * a task may start: tryTake              +1       +1         +1
	 * its body begins: useStart                                  -1      later by the interval
	 * its body has ended: giveBack           -1       -1
	 * it leaves before its body: giveBack    -1       -1         -1
	 * </pre>
	 *
	 * The lock of the gate guards all fields.
	 */
	static final class Permits {

		private final @Nullable Integer max;

		private final @Nullable Integer maxPerKey;

		private final @Nullable StartRate rate;

		private int taken;

		private final Map<Object, Integer> takenByKey = new HashMap<>();

		/**
		 * How many permits reserve a start of the rate, since their bodies have not
		 * begun.
		 */
		private int reserved;

		/** When the next start is due if the starts are spread evenly. */
		private long nextStart;

		Permits(PolicySettings limits, long now) {
			this.max = limits.maxConcurrent();
			this.maxPerKey = limits.maxConcurrentPerKey();
			this.rate = limits.rate();
			this.nextStart = now;
		}

		boolean countsStarts() {
			return this.rate != null;
		}

		boolean isKeyFree(Object slot) {
			return this.maxPerKey == null || this.takenByKey.getOrDefault(slot, 0) < this.maxPerKey;
		}

		boolean tryTake(Object slot, long now) {
			if (!isKeyFree(slot) || (this.rate != null && this.rate.startsAllowed(this.nextStart, now) <= this.reserved)
					|| (this.max != null && this.taken >= this.max)) {
				return false;
			}
			this.taken++;
			if (this.rate != null) {
				this.reserved++;
			}
			if (this.maxPerKey != null) {
				this.takenByKey.merge(slot, 1, Integer::sum);
			}
			return true;
		}

		/**
		 * When the rate allows the next start; {@code null} if no time brings it: there
		 * is no rate, or tasks that have not begun reserve all starts.
		 */
		@Nullable Long nextStart() {
			return (this.rate != null && this.reserved < this.rate.burst())
					? this.rate.allowedFrom(this.nextStart, this.reserved + 1) : null;
		}

		void useStart(long now) {
			if (this.rate != null) {
				this.reserved--;
				this.nextStart = this.rate.nextStart(this.nextStart, now);
			}
		}

		void giveBack(Object slot, boolean reserves) {
			this.taken--;
			if (this.rate != null && reserves) {
				this.reserved--;
			}
			if (this.maxPerKey != null) {
				this.takenByKey.computeIfPresent(slot, (key, taken) -> (taken > 1) ? taken - 1 : null);
			}
		}

	}

}

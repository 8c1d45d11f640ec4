package io.timingwheel.spring.task.memory;

import java.util.Comparator;
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
import org.jspecify.annotations.Nullable;

/**
 * Lets the tasks of one name start as their policy says. A due task that may not start
 * waits here, without a timer, and stays in the map of {@link NamedTasks}. When it may
 * start, it goes back on the wheel, due now, with a {@link Permit}. Thread-safe.
 *
 * <p>
 * A task gives its permit back when its body has ended, and keeps it while its executor
 * refuses. Until the body begins, the permit reserves one start of the rate, so that an
 * executor that is slow to begin cannot gather starts.
 *
 * <p>
 * The map's lock of a key may be held when the lock of the gate is taken, never the other
 * way round. Under the lock of the gate only the wheel is called.
 */
final class StartGate {

	private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

	private static final Comparator<PendingTask> BY_DUE = (first, second) -> {
		int byDue = Long.compare(first.dueNanos() - second.dueNanos(), 0);
		return (byDue != 0) ? byDue : Long.compare(first.sequence(), second.sequence());
	};

	private final NamedTasks tasks;

	private final Lock lock = new ReentrantLock();

	/**
	 * Whether tasks need the lock. While none waits and only bodies are counted, they do
	 * not. A thread that gives a permit back looks at this after it has counted, and a
	 * task that waits sets it before it looks at the count, so one of them starts the
	 * task.
	 */
	private volatile boolean locked;

	private volatile PolicySettings limits;

	/** Permits of earlier counts no longer matter. */
	private volatile Permits permits;

	private volatile boolean paused;

	/** The due tasks that may not start; guarded by the lock. */
	private final TreeSet<PendingTask> waiting = new TreeSet<>(BY_DUE);

	/** The planned look at the waiting tasks; guarded by the lock. */
	private @Nullable TimerHandle look;

	private long lookNanos;

	StartGate(NamedTasks tasks, PolicySettings limits) {
		this.tasks = tasks;
		this.limits = limits;
		this.permits = new Permits(limits, now());
		setPaused(limits.isPaused());
	}

	/** Sets other limits. Bodies that run go on, and do not count. */
	void setLimits(PolicySettings limits) {
		startWaiting(() -> {
			this.limits = limits;
			this.permits = new Permits(limits, now());
		});
	}

	void setPaused(boolean paused) {
		startWaiting(() -> this.paused = paused);
	}

	/** Forgets bodies, starts, and a pause that the policy does not ask for. */
	void reset() {
		setLimits(this.limits);
		setPaused(this.limits.isPaused());
	}

	boolean isPaused() {
		return this.paused;
	}

	int waiting() {
		return locked(this.waiting::size);
	}

	/**
	 * Hands over a task that is due; {@code false} if the task waits, or is back on the
	 * wheel.
	 */
	boolean handOver(PendingTask task, Executor executor) {
		Permits permits = this.permits;
		Permit permit = (!this.locked && permits.tryTakeBody()) ? new Permit(task, permits)
				: locked(() -> (first() == null) ? take(task) : null);
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

	/** Lets a task wait, unless somebody has taken it out of the map. */
	void letWait(PendingTask task, @Nullable Permit permit) {
		enter(task);
		startWaiting(() -> release(permit));
	}

	private void enter(PendingTask task) {
		this.tasks.update(task, (current) -> {
			locked(() -> this.waiting.add(current));
			return true;
		});
	}

	/** Forgets a task that leaves the map, under the lock of its key. */
	void withdraw(PendingTask task, @Nullable Permit permit) {
		boolean onWheel = permit != null && permit.cancelTimer();
		if (onWheel || this.locked) {
			locked(() -> {
				this.waiting.remove(task);
				if (onWheel && release(permit) && !this.waiting.isEmpty()) {
					lookAt(now());
				}
				return null;
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
			this.locked = this.paused || !this.waiting.isEmpty() || !this.permits.countsBodiesOnly();
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

	private void startWaiting() {
		startWaiting(() -> {
		});
	}

	private @Nullable Permit takeNext() {
		PendingTask next = first();
		Permit permit = (next != null) ? take(next) : null;
		if (permit != null) {
			this.waiting.remove(next);
		}
		return permit;
	}

	/** The first task that waits for none of its own key. */
	private @Nullable PendingTask first() {
		for (PendingTask task : this.waiting) {
			if (this.permits.isKeyFree(task.slot())) {
				return task;
			}
		}
		return null;
	}

	private @Nullable Permit take(PendingTask task) {
		if (this.paused) {
			return null;
		}
		if (this.permits.tryTake(task.slot(), now())) {
			return new Permit(task, this.permits);
		}
		Long nextStart = this.permits.nextStart();
		if (nextStart != null && nextStart - now() > 0) {
			lookAt(nextStart);
		}
		return null;
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
			enter(task);
			locked(() -> release(permit));
			lookLater(RETRY_NANOS);
			return false;
		}
	}

	private void giveBack(Permit permit) {
		if (!permit.permits.countsBodiesOnly()) {
			startWaiting(() -> release(permit));
		}
		else if (release(permit) && this.locked) {
			startWaiting();
		}
	}

	private static boolean release(@Nullable Permit permit) {
		int former = (permit != null) ? permit.getAndSet(Permit.RETURNED) : Permit.RETURNED;
		if (permit == null || former == Permit.RETURNED) {
			return false;
		}
		permit.permits.giveBack(permit.task.slot(), former != Permit.BODY);
		return true;
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
			this.look = this.tasks.environment().wheel().scheduleAt(look, nanos);
		}
		catch (RejectedExecutionException ex) {
			// The wheel is full.
			lookLater(Math.max(nanos - now(), RETRY_NANOS));
		}
	}

	/** Looks again without the wheel, unless the wheel has ended. */
	private void lookLater(long delayNanos) {
		TaskEnvironment environment = this.tasks.environment();
		if (environment.wheel().snapshot().state() == WheelSnapshot.State.RUNNING) {
			CompletableFuture.delayedExecutor(delayNanos, TimeUnit.NANOSECONDS, environment.handOvers().completions())
				.execute(this::startWaiting);
		}
	}

	private long now() {
		return this.tasks.environment().clock().nanoTime();
	}

	/**
	 * Lets one task start. The executor, and the wheel if the task has waited or was
	 * refused, get the permit in place of the task.
	 *
	 * <pre>
	 *        the executor runs it          the body begins          it has ended
	 * TAKEN ----------------------> BEGUN -----------------> BODY ---------------> RETURNED
	 *   |                             |                                               ^
	 *   +-----------------------------+-----------------------------------------------+
	 *    withdrawn from the wheel        paused, expired, cancelled
	 * </pre>
	 */
	final class Permit extends AtomicInteger implements RoutedTask {

		private static final long serialVersionUID = 1L;

		private static final int TAKEN = 0;

		private static final int BEGUN = 1;

		private static final int BODY = 2;

		private static final int RETURNED = 3;

		private final transient PendingTask task;

		private final transient Permits permits;

		/** The timer of this permit on the wheel, guarded by the lock of the key. */
		private transient @Nullable TimerHandle timer;

		Permit(PendingTask task, Permits permits) {
			this.task = task;
			this.permits = permits;
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
			if (!this.permits.countsBodiesOnly()) {
				startWaiting(() -> {
					set(BODY);
					this.permits.useStart(now());
				});
			}
		}

		/** Ends the use of this permit. The task that has waited for it starts. */
		void giveBack() {
			StartGate.this.giveBack(this);
		}

	}

}

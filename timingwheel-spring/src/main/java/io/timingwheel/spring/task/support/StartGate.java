package io.timingwheel.spring.task.support;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

import io.timingwheel.TimerHandle;
import io.timingwheel.spring.task.internal.HandOverExecutors;
import io.timingwheel.spring.task.internal.PolicySettings;
import io.timingwheel.spring.task.internal.UserErrors;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Holds back the due tasks of one name that a limit does not let start: the number of
 * bodies at once, in all or of one key, a rate, or a pause. A task that is held back has
 * left the wheel and waits here, in the order in which the tasks are due. The map of
 * {@link NamedTasks} still has the task, so that it can be cancelled, replaced and moved.
 * A waiting task has no timer. At most one timer of the gate waits, for the next start
 * that the rate allows or for the next call of an executor that has refused. Thread-safe.
 *
 * <p>
 * Each task that comes here has a {@link Place}. Before the task is handed over to its
 * executor, it takes one of the {@link StartPermits}, and gives the permit back when its
 * body has ended. Until then it waits in the {@link StartQueue}.
 *
 * <p>
 * The wheel's thread only takes a free permit, or puts the task in a queue of arrivals.
 * The rest happens on the hand-over threads, in the {@link StartTurns} of the gate. An
 * executor whose threads are all occupied therefore delays no turn. The map's lock of a
 * key may be held when the lock of the gate is taken, never the other way round. Under
 * the lock of the gate only the wheel is called, which calls no other code.
 */
final class StartGate {

	private static final Log logger = LogFactory.getLog(StartGate.class);

	/** How many tasks are taken under one hold of the lock. */
	private static final int BATCH = 64;

	private final NamedTasks tasks;

	private final Lock lock = new ReentrantLock();

	/** Guarded by the lock. */
	private final StartPermits permits;

	/** Guarded by the lock. */
	private final StartQueue queue = new StartQueue();

	/** Written under the lock. */
	private volatile boolean paused;

	/** Whether a task that falls due has to queue up. Written under the lock. */
	private volatile boolean congested;

	private final Queue<PendingTask> arrivals = new ConcurrentLinkedQueue<>();

	/** How many tasks are on their way into the queue. No other task overtakes them. */
	private final AtomicInteger arriving = new AtomicInteger();

	private final StartTurns turns;

	StartGate(NamedTasks tasks, PolicySettings limits) {
		this.tasks = tasks;
		this.permits = new StartPermits(limits, now());
		this.paused = limits.isPaused();
		this.congested = this.paused;
		this.turns = new StartTurns(tasks, this.lock, this::startSome, this::hasWork);
	}

	/**
	 * Sets other limits. Bodies that run go on.
	 */
	void setLimits(PolicySettings limits) {
		this.lock.lock();
		try {
			this.permits.setLimits(limits);
			waitForTurn();
		}
		finally {
			this.lock.unlock();
		}
		this.turns.request();
	}

	/**
	 * Begins or ends a pause, during which no task starts.
	 */
	void setPaused(boolean paused) {
		this.lock.lock();
		try {
			this.paused = paused;
			this.congested = true;
		}
		finally {
			this.lock.unlock();
		}
		this.turns.request();
	}

	boolean isPaused() {
		return this.paused;
	}

	/**
	 * Forgets the bodies that run, the starts that the rate counts, and a pause that the
	 * policy does not ask for.
	 */
	void reset() {
		boolean paused;
		this.lock.lock();
		try {
			this.permits.reset(now());
			waitForTurn();
			paused = this.permits.limits().isPaused();
		}
		finally {
			this.lock.unlock();
		}
		setPaused(paused);
	}

	/**
	 * Lets the next turn decide which tasks start, also those that wait for their keys.
	 */
	private void waitForTurn() {
		this.queue.unblockAll();
		this.congested = true;
	}

	/**
	 * Lets a task wait that was handed over before a pause.
	 * @param place the place of the task, {@code null} if it has none
	 * @return {@code false} if there is no pause, so that the task may begin
	 */
	boolean holdBack(PendingTask task, @Nullable Place place) {
		if (!this.paused) {
			return false;
		}
		if (place != null) {
			place.giveBack();
		}
		queueUp(task);
		return true;
	}

	/**
	 * How many due tasks are held back.
	 */
	long waiting() {
		this.lock.lock();
		try {
			return this.queue.size();
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Takes a task whose timer has fired, and hands it over to its executor if it may
	 * start. The wheel's thread calls this.
	 * @return {@code false} if the task has to wait, so that its executor was not called
	 * @throws RejectedExecutionException if the executor refuses the task; the timer is
	 * then pending again
	 */
	boolean arrive(PendingTask task, Executor executor) {
		Place place = this.congested ? null : tryTakeAtOnce(task, executor);
		if (place == null) {
			queueUp(task);
			return false;
		}
		try {
			handOver(place);
		}
		catch (Throwable ex) {
			place.giveBackUnbegun();
			place.startWaitingTasks();
			throw ex;
		}
		return true;
	}

	private @Nullable Place tryTakeAtOnce(PendingTask task, Executor executor) {
		this.lock.lock();
		try {
			if (this.congested || this.arriving.get() > 0 || !mayStart() || !this.permits.isKeyFree(task.slot())) {
				return null;
			}
			long now = now();
			if (this.permits.nextStart(now) - now > 0) {
				return null;
			}
			Place place = new Place(task, executor);
			place.take();
			return place;
		}
		finally {
			this.lock.unlock();
		}
	}

	private void queueUp(PendingTask task) {
		this.arriving.incrementAndGet();
		try {
			this.arrivals.add(task);
		}
		catch (Throwable ex) {
			// No memory.
			this.arriving.decrementAndGet();
			throw ex;
		}
		this.turns.request();
	}

	private void handOver(Place place) {
		environment().handOvers().handOver(place.executor, place, place::fail);
	}

	/**
	 * Starts some tasks.
	 * @return whether there may be more that can start now
	 */
	private boolean startSome() {
		for (PendingTask task = this.arrivals.peek(); task != null; task = this.arrivals.peek()) {
			enter(task);
			this.arrivals.remove();
			this.arriving.decrementAndGet();
		}
		List<Place> places = takeFromQueue();
		List<Place> refused = new ArrayList<>();
		Set<Executor> refusing = Collections.newSetFromMap(new IdentityHashMap<>());
		for (Place place : places) {
			if (refusing.contains(place.executor) || !tryHandOver(place)) {
				refusing.add(place.executor);
				refused.add(place);
			}
		}
		queueUpRefused(places, refused, refusing);
		return !places.isEmpty();
	}

	/**
	 * Hands a task over, unless its executor refuses it.
	 * @return {@code false} if the executor refuses the task, or cannot take it at the
	 * moment
	 */
	private boolean tryHandOver(Place place) {
		try {
			handOver(place);
			return true;
		}
		catch (Throwable ex) {
			if (!place.isTaken()) {
				// The task has begun on this thread.
				UserErrors.log(logger::error, "The task \"" + this.tasks.name() + "\" could not be ended", ex);
				return true;
			}
			UserErrors.log(logger::debug, "Refused by an executor of " + place.executor.getClass() + ", trying again",
					ex);
			return false;
		}
	}

	/**
	 * Lets a task wait, unless somebody has taken it out of the map or replaced it.
	 */
	private void enter(PendingTask task) {
		this.tasks.pending().computeIfPresent(task.slot(), (slot, current) -> {
			if (current == task) {
				task.waitsFor(newPlace(task));
			}
			return current;
		});
	}

	private Place newPlace(PendingTask task) {
		Place place = new Place(task, task.executor());
		this.lock.lock();
		try {
			this.queue.add(place);
			this.congested = true;
		}
		finally {
			this.lock.unlock();
		}
		return place;
	}

	/**
	 * Lets the first tasks of the queue take permits, as far as there are permits.
	 */
	private List<Place> takeFromQueue() {
		List<Place> places = new ArrayList<>();
		this.lock.lock();
		try {
			long now = now();
			Place next = this.queue.peek(now);
			while (next != null && places.size() < BATCH && mayStart()) {
				long start = this.permits.nextStart(now);
				if (start - now > 0) {
					if (!this.permits.isRateReserved()) {
						this.turns.planAt(start);
					}
					break;
				}
				if (this.permits.isKeyFree(next.slot())) {
					this.queue.remove(next);
					next.take();
					places.add(next);
				}
				else {
					this.queue.block(next);
				}
				next = this.queue.peek(now);
			}
			this.congested = this.paused || this.queue.hasReady() || this.queue.planRetries(now, this::retryAt);
		}
		finally {
			this.lock.unlock();
		}
		return places;
	}

	/**
	 * Whether there are tasks for a turn. The caller holds the lock.
	 */
	private boolean hasWork() {
		return this.queue.size() != 0 || this.arriving.get() != 0;
	}

	private boolean mayStart() {
		return !this.paused && this.permits.isFree();
	}

	/**
	 * Plans to call an executor again that has refused, if a task could start then.
	 */
	private void retryAt(long nanos) {
		if (mayStart()) {
			this.turns.planAt(nanos);
		}
	}

	/**
	 * Lets the tasks of a batch wait again that were refused, and ends the lines of the
	 * executors that have accepted a task.
	 */
	private void queueUpRefused(List<Place> places, List<Place> refused, Set<Executor> refusedBy) {
		this.lock.lock();
		try {
			for (Place place : places) {
				if (!refusedBy.contains(place.executor)) {
					this.queue.accepted(place.executor);
				}
			}
			long now = now();
			refusedBy.forEach((executor) -> this.queue.refused(executor, now));
			if (!refused.isEmpty()) {
				this.congested = true;
				this.arriving.addAndGet(refused.size());
				refused.forEach(Place::release);
			}
		}
		finally {
			this.lock.unlock();
		}
		refused.forEach((place) -> this.arrivals.add(place.task()));
	}

	private long now() {
		return environment().clock().nanoTime();
	}

	private TaskEnvironment environment() {
		return this.tasks.environment();
	}

	/**
	 * The place of a task: first in the queue, then among those that run. Running it
	 * begins the task. As a timer, a place is one that has fired: its task can be
	 * cancelled, but not moved. The lock of the gate guards all fields that change.
	 */
	final class Place implements Runnable, TimerHandle {

		private final Object slot;

		private final long dueNanos;

		private final long sequence;

		private final Executor executor;

		private @Nullable PendingTask task;

		private StartPermits.@Nullable Permit permit;

		private State state = State.WAITING;

		private Place(PendingTask task, Executor executor) {
			this.task = task;
			this.slot = task.slot();
			this.dueNanos = task.dueNanos();
			this.sequence = task.sequence();
			this.executor = executor;
		}

		Object slot() {
			return this.slot;
		}

		long dueNanos() {
			return this.dueNanos;
		}

		long sequence() {
			return this.sequence;
		}

		Executor executor() {
			return this.executor;
		}

		/**
		 * Whether the task is in the queue. The caller holds the lock of the gate.
		 */
		boolean isWaiting() {
			return this.state == State.WAITING;
		}

		/**
		 * Takes a permit, which the caller has found free under the lock of the gate.
		 */
		private void take() {
			this.permit = StartGate.this.permits.take(this.slot);
			this.state = State.TAKEN;
		}

		private PendingTask task() {
			PendingTask task = this.task;
			if (task == null) {
				throw new IllegalStateException("The task has left its place");
			}
			return task;
		}

		@Override
		public void run() {
			PendingTask task = task();
			HandOverExecutors handOvers = environment().handOvers();
			if (!handOvers.isPaused() || !handOvers.holdBack(this.executor, this, this::fail)) {
				task.begin(this);
			}
		}

		private void fail(Throwable error) {
			new TaskRun(task(), this).fail(error);
		}

		/**
		 * Uses up one start of the rate.
		 */
		void begun() {
			StartGate gate = StartGate.this;
			gate.lock.lock();
			try {
				// The executor may have thrown an exception but kept the task.
				if (this.state == State.TAKEN && this.permit != null) {
					this.state = State.BEGUN;
					boolean nextWaits = gate.permits.isRateReserved();
					long now = now();
					this.permit.begin(now);
					if (nextWaits && gate.congested && gate.mayStart()) {
						gate.turns.planAt(gate.permits.nextStart(now));
					}
				}
			}
			finally {
				gate.lock.unlock();
			}
		}

		/**
		 * Starts the tasks that have waited for the permit of this one.
		 */
		void startWaitingTasks() {
			if (StartGate.this.congested || !StartGate.this.arrivals.isEmpty()) {
				StartGate.this.turns.request();
			}
		}

		/**
		 * Gives the permit back.
		 */
		void giveBack() {
			StartGate.this.lock.lock();
			try {
				release();
			}
			finally {
				StartGate.this.lock.unlock();
			}
		}

		/**
		 * Gives the permit back unless the task has begun.
		 */
		void giveBackUnbegun() {
			StartGate.this.lock.lock();
			try {
				if (this.state == State.TAKEN) {
					release();
				}
			}
			finally {
				StartGate.this.lock.unlock();
			}
		}

		/**
		 * Whether the body has begun, or the task has left its place.
		 */
		boolean hasBegun() {
			StartGate.this.lock.lock();
			try {
				return this.state == State.BEGUN || this.state == State.LEFT;
			}
			finally {
				StartGate.this.lock.unlock();
			}
		}

		private boolean isTaken() {
			StartGate.this.lock.lock();
			try {
				return this.state == State.TAKEN;
			}
			finally {
				StartGate.this.lock.unlock();
			}
		}

		private void release() {
			StartPermits.Permit permit = this.permit;
			if (permit != null) {
				this.permit = null;
				this.state = State.LEFT;
				permit.giveBack();
				if (StartGate.this.queue.unblock(this.slot)) {
					StartGate.this.congested = true;
				}
			}
		}

		@Override
		public boolean cancel() {
			StartGate gate = StartGate.this;
			gate.lock.lock();
			try {
				if (!isWaiting()) {
					return false;
				}
				this.state = State.LEFT;
				this.task = null;
				gate.queue.left(this);
				return true;
			}
			finally {
				gate.lock.unlock();
			}
		}

		@Override
		public boolean reschedule(long delay, TimeUnit unit) {
			return false;
		}

		@Override
		public boolean reschedule(Duration delay) {
			return false;
		}

		@Override
		public boolean rescheduleAt(long nanoTime) {
			return false;
		}

		@Override
		public boolean isPending() {
			return false;
		}

		@Override
		public boolean isCancelled() {
			return false;
		}

		@Override
		public long remaining(TimeUnit unit) {
			return 0;
		}

	}

	private enum State {

		/** The task waits in the queue. */
		WAITING,

		/** The task has a permit, and waits for its executor. */
		TAKEN,

		/** The body runs. */
		BEGUN,

		/** The task has given its permit back, or was cancelled before. */
		LEFT

	}

}

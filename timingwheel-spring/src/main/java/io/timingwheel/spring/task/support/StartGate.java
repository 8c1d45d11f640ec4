package io.timingwheel.spring.task.support;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

import io.timingwheel.DirectTask;
import io.timingwheel.TimerHandle;
import io.timingwheel.WheelSnapshot;
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
 * A task takes a {@link Place} before it is handed over to its executor, and gives the
 * place back when its body has ended. Each place that has not begun also reserves one
 * start of the rate, which the beginning body uses up. An executor that is slow to begin
 * therefore cannot gather starts.
 *
 * <p>
 * If an executor refuses a task, the tasks of this executor wait in a {@link Line} of
 * their own. One of them is tried again after a pause. The tasks of the name that have
 * other executors go on.
 *
 * <p>
 * The wheel's thread only takes a free place, or puts the task in a queue of arrivals.
 * The rest happens on the hand-over threads, in turns of which there is one at a time. An
 * executor whose threads are all occupied therefore delays no turn. The map's lock of a
 * key may be held when the lock of the gate is taken, never the other way round. Under
 * the lock of the gate only the wheel is called, which calls no other code.
 */
final class StartGate {

	private static final Log logger = LogFactory.getLog(StartGate.class);

	/** How many tasks are taken under one hold of the lock. */
	private static final int BATCH = 64;

	private static final long MIN_PAUSE = TimeUnit.MILLISECONDS.toNanos(10);

	private static final long MAX_PAUSE = TimeUnit.SECONDS.toNanos(1);

	/** Below this number of dead places it is not worth while to remove them. */
	private static final int FEW = 64;

	private static final Comparator<Place> BY_DUE = (first, second) -> {
		int byDue = Long.compare(first.dueNanos - second.dueNanos, 0);
		return (byDue != 0) ? byDue : Long.compare(first.sequence, second.sequence);
	};

	private final NamedTasks tasks;

	private final Lock lock = new ReentrantLock();

	/** The tasks that wait, without those of {@link #refusing} and {@link #blocked}. */
	private final PriorityQueue<Place> ready = new PriorityQueue<>(BY_DUE);

	/** The executors that refuse. */
	private final Map<Executor, Line> refusing = new IdentityHashMap<>();

	/** How many places their tasks have left that are still in a queue. */
	private int dead;

	/** The tasks that wait for a run of their key, by slot; a key has only one. */
	private final Map<Object, Place> blocked = new HashMap<>();

	/** How many bodies of a key hold places, if the key is limited. */
	private final Map<Object, Integer> heldByKey = new HashMap<>();

	/** Written under the lock. */
	private volatile PolicySettings limits;

	/** Written under the lock. */
	private volatile boolean paused;

	/** How many places are taken. */
	private int held;

	/** How many of the taken places have not begun. */
	private int reserved;

	/** When the next start is due if the starts are spread evenly. */
	private long nextStartNanos;

	/** How often this gate was reset. The places that were taken before count no more. */
	private int resets;

	private @Nullable WakeUp wakeUp;

	private int waiting;

	/** Whether a task that falls due has to queue up. */
	private volatile boolean congested;

	private final Queue<PendingTask> arrivals = new ConcurrentLinkedQueue<>();

	/** How many tasks queue up that have no place yet; no other task overtakes them. */
	private final AtomicInteger arriving = new AtomicInteger();

	private final AtomicBoolean turnDue = new AtomicBoolean();

	/** How many turns have been asked for since the current one began. */
	private final AtomicInteger turns = new AtomicInteger();

	StartGate(NamedTasks tasks, PolicySettings limits) {
		this.tasks = tasks;
		this.limits = limits;
		this.paused = limits.isPaused();
		this.congested = this.paused;
		this.nextStartNanos = now();
	}

	/**
	 * Sets other limits. Bodies that run go on.
	 */
	void setLimits(PolicySettings limits) {
		this.lock.lock();
		try {
			this.limits = limits;
		}
		finally {
			this.lock.unlock();
		}
		requestTurn();
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
		requestTurn();
	}

	boolean isPaused() {
		return this.paused;
	}

	/**
	 * Forgets the bodies that run, the starts that the rate counts, and a pause that the
	 * policy does not ask for.
	 */
	void reset() {
		this.lock.lock();
		try {
			this.resets++;
			this.held = 0;
			this.reserved = 0;
			this.heldByKey.clear();
			this.nextStartNanos = now();
		}
		finally {
			this.lock.unlock();
		}
		setPaused(this.limits.isPaused());
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
			return this.waiting;
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
		Place place = this.congested ? null : takePlace(task, executor);
		if (place == null) {
			queueUp(task);
			return false;
		}
		try {
			handOver(place);
		}
		catch (Throwable ex) {
			place.giveBackUnbegun();
			place.startNext();
			throw ex;
		}
		return true;
	}

	private @Nullable Place takePlace(PendingTask task, Executor executor) {
		this.lock.lock();
		try {
			if (!this.congested && this.arriving.get() == 0 && hasFreePlace() && !isBusy(task.slot())
					&& mayStartAt(now())) {
				Place place = new Place(task, executor);
				take(place);
				return place;
			}
			return null;
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
		requestTurn();
	}

	private void handOver(Place place) {
		environment().handOvers().handOver(place.executor, place, place::fail);
	}

	/**
	 * Asks for a turn on another thread, unless one has been asked for. With virtual time
	 * the turn comes on this thread. Throws nothing, since the task that asks may wait
	 * here already.
	 */
	private void requestTurn() {
		if (!this.turnDue.compareAndSet(false, true)) {
			return;
		}
		try {
			environment().handOvers().runSoon(this::requestedTurn);
		}
		catch (RejectedExecutionException ex) {
			// The application has ended.
			this.turnDue.set(false);
		}
		catch (Throwable ex) {
			this.turnDue.set(false);
			logger.warn("Tasks of the name \"" + this.tasks.name() + "\" wait longer than their policy says", ex);
		}
	}

	private void requestedTurn() {
		this.turnDue.set(false);
		turn();
	}

	/**
	 * Hands over the tasks that may start now. If another thread is at this, that thread
	 * goes on in place of this one. A body that runs on the thread that hands it over
	 * therefore does not nest these calls.
	 */
	private void turn() {
		if (this.turns.getAndIncrement() != 0) {
			return;
		}
		int asked = 1;
		do {
			try {
				while (startSome()) {
					// There may be more.
				}
			}
			catch (Throwable ex) {
				this.turns.set(0);
				throw ex;
			}
			asked = this.turns.addAndGet(-asked);
		}
		while (asked != 0);
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
		List<Place> places = takePlaces();
		List<Place> refused = new ArrayList<>();
		Set<Executor> refusing = Collections.newSetFromMap(new IdentityHashMap<>());
		for (Place place : places) {
			if (refusing.contains(place.executor) || !isAccepted(place)) {
				refusing.add(place.executor);
				refused.add(place);
			}
		}
		settle(places, refused, refusing);
		return !places.isEmpty();
	}

	/**
	 * Hands a task over.
	 * @return {@code false} if its executor refuses it, or cannot take it at the moment
	 */
	private boolean isAccepted(Place place) {
		try {
			handOver(place);
			return true;
		}
		catch (Throwable ex) {
			if (!place.isTaken()) {
				// The task has begun on this thread.
				logger.error("The task \"" + this.tasks.name() + "\" could not be ended", ex);
				return true;
			}
			logger.debug("Refused by an executor of " + place.executor.getClass() + ", trying again", ex);
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
			this.ready.add(place);
			this.waiting++;
			this.congested = true;
		}
		finally {
			this.lock.unlock();
		}
		return place;
	}

	private List<Place> takePlaces() {
		List<Place> places = new ArrayList<>();
		this.lock.lock();
		try {
			long now = now();
			for (Place place = next(now); place != null && places.size() < BATCH && hasFreePlace(); place = next(now)) {
				if (!mayStartAt(now)) {
					wakeUpAt(startNanos(now));
					break;
				}
				Line line = this.refusing.get(place.executor);
				((line != null) ? line.places : this.ready).remove();
				if (isBusy(place.slot)) {
					this.blocked.put(place.slot, place);
					continue;
				}
				if (line != null) {
					line.trying = true;
				}
				this.waiting--;
				take(place);
				places.add(place);
			}
			this.congested = this.paused || first(this.ready) != null || isAnyRefused(now);
		}
		finally {
			this.lock.unlock();
		}
		return places;
	}

	/**
	 * The first task whose executor may be called.
	 */
	private @Nullable Place next(long now) {
		Place next = first(this.ready);
		if (this.refusing.isEmpty()) {
			return next;
		}
		Line line = (next != null) ? this.refusing.get(next.executor) : null;
		while (next != null && line != null) {
			line.places.add(this.ready.remove());
			next = first(this.ready);
			line = (next != null) ? this.refusing.get(next.executor) : null;
		}
		for (Line other : this.refusing.values()) {
			Place place = other.mayTry(now) ? first(other.places) : null;
			if (place != null && (next == null || BY_DUE.compare(place, next) < 0)) {
				next = place;
			}
		}
		return next;
	}

	private @Nullable Place first(PriorityQueue<Place> queue) {
		Place first = queue.peek();
		while (first != null && first.state != Place.WAITING) {
			queue.remove();
			this.dead--;
			first = queue.peek();
		}
		return first;
	}

	/**
	 * Tells whether tasks wait for executors that refuse, and plans to try these again.
	 */
	private boolean isAnyRefused(long now) {
		boolean any = false;
		for (Iterator<Line> lines = this.refusing.values().iterator(); lines.hasNext();) {
			Line line = lines.next();
			if (first(line.places) != null) {
				any = true;
				if (hasFreePlace() && line.retryNanos - now > 0) {
					wakeUpAt(line.retryNanos);
				}
			}
			else if (!line.trying) {
				lines.remove();
			}
		}
		return any;
	}

	private boolean hasFreePlace() {
		Integer max = this.limits.maxConcurrent();
		return !this.paused && (max == null || this.held < max);
	}

	private boolean isBusy(Object slot) {
		Integer max = this.limits.maxConcurrentPerKey();
		return max != null && this.heldByKey.getOrDefault(slot, 0) >= max;
	}

	/**
	 * Whether the rate allows one more start than those that are reserved.
	 */
	private boolean mayStartAt(long now) {
		return startNanos(now) - now <= 0;
	}

	/**
	 * When the rate allows one more start than those that are reserved. This is the
	 * generic cell rate algorithm.
	 */
	private long startNanos(long now) {
		StartRate rate = this.limits.rate();
		if (rate == null) {
			return now;
		}
		long next = (this.nextStartNanos - now > 0) ? this.nextStartNanos : now;
		return next + (this.reserved - (rate.burst() - 1)) * rate.intervalNanos();
	}

	private void take(Place place) {
		place.state = Place.TAKEN;
		place.resets = this.resets;
		this.held++;
		this.reserved++;
		if (this.limits.maxConcurrentPerKey() != null) {
			place.keyed = true;
			this.heldByKey.merge(place.slot, 1, Integer::sum);
		}
	}

	/**
	 * Lets the tasks of a batch wait again that were refused, and ends the lines of the
	 * executors that have accepted a task.
	 */
	private void settle(List<Place> places, List<Place> refused, Set<Executor> refusedBy) {
		this.lock.lock();
		try {
			if (!this.refusing.isEmpty()) {
				places.forEach((place) -> {
					Line line = refusedBy.contains(place.executor) ? null : this.refusing.remove(place.executor);
					if (line != null) {
						this.ready.addAll(line.places);
					}
				});
			}
			long now = now();
			for (Executor executor : refusedBy) {
				this.refusing.computeIfAbsent(executor, (key) -> new Line()).refused(now);
			}
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

	/**
	 * Plans a turn, unless one is planned that comes no later. The caller holds the lock.
	 */
	private void wakeUpAt(long nanos) {
		WakeUp planned = this.wakeUp;
		if (planned != null && planned.atNanos - nanos <= 0) {
			return;
		}
		WakeUp wakeUp = new WakeUp(nanos);
		wakeUp.plan(nanos - now());
		this.wakeUp = wakeUp;
		if (planned != null) {
			planned.cancel();
		}
	}

	private long now() {
		return environment().clock().nanoTime();
	}

	private TaskEnvironment environment() {
		return this.tasks.environment();
	}

	/**
	 * The tasks that wait for an executor that refuses, and the time at which one of them
	 * is tried again. The lock of the gate guards all fields.
	 */
	private static final class Line {

		private final PriorityQueue<Place> places = new PriorityQueue<>(BY_DUE);

		private long pauseNanos = MIN_PAUSE;

		private long retryNanos;

		/** Whether the executor is being called for one of its tasks. */
		private boolean trying;

		boolean mayTry(long now) {
			return !this.trying && this.retryNanos - now <= 0;
		}

		void refused(long now) {
			this.trying = false;
			this.retryNanos = now + this.pauseNanos;
			this.pauseNanos = Math.min(2 * this.pauseNanos, MAX_PAUSE);
		}

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
					CompletableFuture.delayedExecutor(Math.max(delayNanos, MIN_PAUSE), TimeUnit.NANOSECONDS)
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
			StartGate gate = StartGate.this;
			gate.lock.lock();
			try {
				if (gate.wakeUp != this) {
					return;
				}
				gate.wakeUp = null;
				if (gate.waiting == 0 && gate.arriving.get() == 0) {
					return;
				}
			}
			finally {
				gate.lock.unlock();
			}
			requestTurn();
		}

	}

	/**
	 * The place of a task: first in the queue, then among those that run. Running it
	 * begins the task. As a timer it is one that has fired, whose task can only be
	 * cancelled. The lock of the gate guards all fields that change.
	 */
	final class Place implements Runnable, TimerHandle {

		private static final int WAITING = 0;

		private static final int TAKEN = 1;

		private static final int BEGUN = 2;

		private static final int LEFT = 3;

		private final Object slot;

		private final long dueNanos;

		private final long sequence;

		private final Executor executor;

		private @Nullable PendingTask task;

		private boolean keyed;

		/** The resets before the task took this place. */
		private int resets;

		private int state = WAITING;

		private Place(PendingTask task, Executor executor) {
			this.task = task;
			this.slot = task.slot();
			this.dueNanos = task.dueNanos();
			this.sequence = task.sequence();
			this.executor = executor;
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
				if (this.state != TAKEN) {
					// The executor has thrown an exception but kept the task.
					return;
				}
				this.state = BEGUN;
				if (isForgotten()) {
					return;
				}
				gate.reserved--;
				StartRate rate = gate.limits.rate();
				if (rate != null) {
					long now = now();
					gate.nextStartNanos = ((gate.nextStartNanos - now > 0) ? gate.nextStartNanos : now)
							+ rate.intervalNanos();
				}
			}
			finally {
				gate.lock.unlock();
			}
		}

		/**
		 * Starts the tasks that have waited for this place.
		 */
		void startNext() {
			if (StartGate.this.congested || !StartGate.this.arrivals.isEmpty()) {
				requestTurn();
			}
		}

		/**
		 * Gives the place back.
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
		 * Gives the place back unless the task has begun.
		 */
		void giveBackUnbegun() {
			StartGate.this.lock.lock();
			try {
				if (this.state == TAKEN) {
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
				return this.state == BEGUN || this.state == LEFT;
			}
			finally {
				StartGate.this.lock.unlock();
			}
		}

		private boolean isTaken() {
			StartGate.this.lock.lock();
			try {
				return this.state == TAKEN;
			}
			finally {
				StartGate.this.lock.unlock();
			}
		}

		private boolean isForgotten() {
			return this.resets != StartGate.this.resets;
		}

		private void release() {
			StartGate gate = StartGate.this;
			if (this.state == LEFT) {
				return;
			}
			if (isForgotten()) {
				this.state = LEFT;
				return;
			}
			gate.held--;
			if (this.state == TAKEN) {
				gate.reserved--;
			}
			this.state = LEFT;
			if (this.keyed) {
				gate.heldByKey.computeIfPresent(this.slot, (slot, count) -> (count > 1) ? count - 1 : null);
				Place next = gate.blocked.remove(this.slot);
				if (next != null) {
					gate.ready.add(next);
					gate.congested = true;
				}
			}
		}

		@Override
		public boolean cancel() {
			StartGate gate = StartGate.this;
			gate.lock.lock();
			try {
				if (this.state != WAITING) {
					return false;
				}
				this.state = LEFT;
				this.task = null;
				gate.waiting--;
				if (!gate.blocked.remove(this.slot, this)) {
					gate.dead++;
					if (gate.dead > FEW && gate.dead > gate.waiting) {
						removeDead();
					}
				}
				return true;
			}
			finally {
				gate.lock.unlock();
			}
		}

		private void removeDead() {
			StartGate gate = StartGate.this;
			gate.ready.removeIf((place) -> place.state != WAITING);
			gate.refusing.values().forEach((line) -> line.places.removeIf((place) -> place.state != WAITING));
			gate.dead = 0;
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

}

package io.timingwheel.spring.task.support;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Queue;
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
import org.jspecify.annotations.Nullable;

/**
 * Holds back the due tasks of one name that a limit does not let start: the number of
 * bodies at once, in all or of one key, a rate, or a pause. A task that is held back has
 * left the wheel and waits here, in the order in which the tasks are due. The map of
 * {@link NamedTasks} still has the task, so that it can be cancelled, replaced and moved.
 * A waiting task has no timer. One timer of the gate waits for the next start that the
 * rate allows. Thread-safe.
 *
 * <p>
 * A task takes a {@link Place} before it is handed over to its executor, and gives the
 * place back when its body has ended. Each place that has not begun also reserves one
 * start of the rate, which the beginning body uses up. An executor that is slow to begin
 * therefore cannot gather starts.
 *
 * <p>
 * The wheel's thread only takes a free place, or puts the task in a queue of arrivals.
 * The rest happens on the executors' threads, in turns of which there is one at a time.
 * The map's lock of a key may be held when the lock of the gate is taken, never the other
 * way round. No other code is called under the lock of the gate.
 */
final class StartGate {

	/** How many tasks are taken under one hold of the lock. */
	private static final int BATCH = 64;

	private static final Duration RETRY = Duration.ofMillis(10);

	/** Below this number of dead places it is not worth while to remove them. */
	private static final int FEW = 64;

	private static final Comparator<Place> BY_DUE = (first, second) -> {
		int byDue = Long.compare(first.dueNanos - second.dueNanos, 0);
		return (byDue != 0) ? byDue : Long.compare(first.sequence, second.sequence);
	};

	private final NamedTasks tasks;

	private final Lock lock = new ReentrantLock();

	/** The tasks that wait, without those that wait for a run of their key. */
	private final PriorityQueue<Place> ready = new PriorityQueue<>(BY_DUE);

	/** How many places in {@link #ready} their tasks have left. */
	private int dead;

	/** The tasks that wait for a run of their key, by slot; a key has only one. */
	private final Map<Object, Place> blocked = new HashMap<>();

	/** How many bodies of a key hold places, if the key is limited. */
	private final Map<Object, Integer> heldByKey = new HashMap<>();

	private PolicySettings limits;

	/** Written under the lock. */
	private volatile boolean paused;

	/** How many places are taken. */
	private int held;

	/** How many of the taken places have not begun. */
	private int reserved;

	/** When the next start is due if the starts are spread evenly. */
	private long nextStartNanos;

	private boolean refused;

	/** The time at which the timer of this gate fires, if there is one. */
	private @Nullable Long wakeUpNanos;

	private int waiting;

	/** Whether a task that falls due has to queue up. */
	private volatile boolean congested;

	private final Queue<PendingTask> arrivals = new ConcurrentLinkedQueue<>();

	private final AtomicBoolean turnDue = new AtomicBoolean();

	/** How many turns have been asked for since the current one began. */
	private final AtomicInteger turns = new AtomicInteger();

	/** The latest task that had to queue up; its executor runs the turns. */
	private volatile @Nullable TaskDefinition<?> latest;

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
		turn();
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
		turn();
	}

	boolean isPaused() {
		return this.paused;
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
	 * @throws RejectedExecutionException if the executor refuses the task; the timer is
	 * then pending again
	 */
	void arrive(PendingTask task) {
		Place place = this.congested ? null : takePlace(task);
		if (place == null) {
			queueUp(task);
			return;
		}
		try {
			handOver(place);
		}
		catch (RejectedExecutionException ex) {
			place.giveBack();
			throw ex;
		}
	}

	private @Nullable Place takePlace(PendingTask task) {
		this.lock.lock();
		try {
			if (!this.congested && hasFreePlace() && !isBusy(task.slot()) && mayStartAt(now())) {
				Place place = new Place(task);
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
		this.latest = task.definition();
		this.arrivals.add(task);
		requestTurn();
	}

	private void handOver(Place place) {
		environment().handOvers().handOver(place.task().definition().executor(), place, place::fail);
	}

	/**
	 * Asks for a turn on another thread, unless one has been asked for.
	 */
	private void requestTurn() {
		TaskDefinition<?> latest = this.latest;
		if (latest == null || !this.turnDue.compareAndSet(false, true)) {
			return;
		}
		try {
			environment().handOvers().handOver(latest.executor(), this::requestedTurn, (ex) -> requestedTurn());
		}
		catch (RejectedExecutionException ex) {
			this.turnDue.set(false);
			wakeUpAfter(RETRY);
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
		for (PendingTask task = this.arrivals.poll(); task != null; task = this.arrivals.poll()) {
			enter(task);
		}
		List<Place> places = takePlaces();
		for (int i = 0; i < places.size(); i++) {
			try {
				handOver(places.get(i));
			}
			catch (RejectedExecutionException ex) {
				giveBackRefused(places.subList(i, places.size()));
				return false;
			}
		}
		return !places.isEmpty();
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
		Place place = new Place(task);
		this.lock.lock();
		try {
			this.waiting++;
			this.ready.add(place);
		}
		finally {
			this.lock.unlock();
		}
		return place;
	}

	private List<Place> takePlaces() {
		List<Place> places = new ArrayList<>();
		Long wakeUp = null;
		this.lock.lock();
		try {
			while (places.size() < BATCH && hasFreePlace()) {
				Place place = firstReady();
				if (place == null) {
					break;
				}
				long now = now();
				if (!mayStartAt(now)) {
					wakeUp = setWakeUp(now);
					break;
				}
				this.ready.remove();
				if (isBusy(place.slot)) {
					this.blocked.put(place.slot, place);
				}
				else {
					this.waiting--;
					take(place);
					places.add(place);
				}
			}
			this.congested = this.paused || this.refused || firstReady() != null;
		}
		finally {
			this.lock.unlock();
		}
		if (wakeUp != null) {
			wakeUpAfter(Duration.ofNanos(wakeUp));
		}
		return places;
	}

	private @Nullable Place firstReady() {
		Place first = this.ready.peek();
		while (first != null && first.state != Place.WAITING) {
			this.ready.remove();
			this.dead--;
			first = this.ready.peek();
		}
		return first;
	}

	private boolean hasFreePlace() {
		Integer max = this.limits.maxConcurrent();
		return !this.paused && !this.refused && (max == null || this.held < max);
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

	/**
	 * Remembers when to wake up for the next start.
	 * @return the time until then, {@code null} if there is a timer for it
	 */
	private @Nullable Long setWakeUp(long now) {
		long start = startNanos(now);
		Long known = this.wakeUpNanos;
		if (known != null && known - start <= 0) {
			return null;
		}
		this.wakeUpNanos = start;
		return start - now;
	}

	private void take(Place place) {
		place.state = Place.TAKEN;
		this.held++;
		this.reserved++;
		if (this.limits.maxConcurrentPerKey() != null) {
			place.keyed = true;
			this.heldByKey.merge(place.slot, 1, Integer::sum);
		}
	}

	/**
	 * Lets tasks wait again that their executor has refused.
	 */
	private void giveBackRefused(List<Place> places) {
		this.lock.lock();
		try {
			this.refused = true;
			this.congested = true;
			places.forEach(Place::release);
		}
		finally {
			this.lock.unlock();
		}
		places.forEach((place) -> this.arrivals.add(place.task()));
		wakeUpAfter(RETRY);
	}

	private void wakeUpAfter(Duration delay) {
		try {
			environment().wheel().schedule((DirectTask) this::wakeUp, delay);
		}
		catch (RejectedExecutionException ex) {
			if (environment().shutdown().isAccepting()) {
				// The wheel is full at the moment.
				CompletableFuture.delayedExecutor(Math.max(delay.toNanos(), RETRY.toNanos()), TimeUnit.NANOSECONDS)
					.execute(this::wakeUp);
			}
		}
	}

	private void wakeUp() {
		this.lock.lock();
		try {
			this.refused = false;
			this.wakeUpNanos = null;
			if (this.waiting == 0 && this.arrivals.isEmpty()) {
				return;
			}
		}
		finally {
			this.lock.unlock();
		}
		requestTurn();
	}

	private long now() {
		return environment().clock().nanoTime();
	}

	private TaskEnvironment environment() {
		return this.tasks.environment();
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

		private @Nullable PendingTask task;

		private boolean keyed;

		private int state = WAITING;

		private Place(PendingTask task) {
			this.task = task;
			this.slot = task.slot();
			this.dueNanos = task.dueNanos();
			this.sequence = task.sequence();
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
			if (!handOvers.isPaused() || !handOvers.holdBack(task.definition().executor(), this, this::fail)) {
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
				this.state = BEGUN;
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
				turn();
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

		private void release() {
			StartGate gate = StartGate.this;
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
					if (gate.dead > FEW && gate.dead > gate.ready.size() / 2) {
						gate.ready.removeIf((place) -> place.state != WAITING);
						gate.dead = 0;
					}
				}
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

}

package io.timingwheel.spring.task.support;

import java.util.Comparator;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;

import io.timingwheel.spring.task.support.StartGate.Place;
import org.jspecify.annotations.Nullable;

/**
 * The due tasks of one name that wait for their start, in the order in which they are
 * due. If an executor refuses a task, the tasks of this executor wait in a {@link Line}
 * of their own. One of them is tried again after a pause, and the tasks that have other
 * executors go on. A task whose key is at its limit waits until a run of the key ends.
 *
 * <p>
 * Time is a parameter, in nanoseconds. The lock of the {@link StartGate} guards an
 * instance and its lines.
 */
final class StartQueue {

	/** The first pause after a refusal, in nanoseconds. */
	static final long MIN_PAUSE = TimeUnit.MILLISECONDS.toNanos(10);

	private static final long MAX_PAUSE = TimeUnit.SECONDS.toNanos(1);

	/** Up to this many places whose tasks have left are not searched for. */
	private static final int FEW = 64;

	private static final Comparator<Place> BY_DUE = (first, second) -> {
		int byDue = Long.compare(first.dueNanos() - second.dueNanos(), 0);
		return (byDue != 0) ? byDue : Long.compare(first.sequence(), second.sequence());
	};

	/** The tasks that wait for neither their executor nor their key. */
	private final PriorityQueue<Place> ready = new PriorityQueue<>(BY_DUE);

	/** The executors that refuse. */
	private final Map<Executor, Line> refusing = new IdentityHashMap<>();

	/** The tasks that wait for their key, by slot. Only one task of a key is pending. */
	private final Map<Object, Place> blocked = new HashMap<>();

	private int size;

	/** How many places are still in a queue although their tasks have left. */
	private int dead;

	/**
	 * How many tasks wait.
	 */
	int size() {
		return this.size;
	}

	void add(Place place) {
		this.ready.add(place);
		this.size++;
	}

	/**
	 * The first task whose executor may be called, {@code null} if there is none.
	 */
	@Nullable Place peek(long now) {
		Place next = firstReady();
		if (this.refusing.isEmpty()) {
			return next;
		}
		for (Line line : this.refusing.values()) {
			Place place = line.mayTry(now) ? first(line.places) : null;
			if (place != null && (next == null || BY_DUE.compare(place, next) < 0)) {
				next = place;
			}
		}
		return next;
	}

	/**
	 * The first ready task. Tasks that have become ready although their executor refuses
	 * go to its line.
	 */
	private @Nullable Place firstReady() {
		Place first = first(this.ready);
		while (first != null) {
			Line line = this.refusing.get(first.executor());
			if (line == null) {
				return first;
			}
			line.places.add(this.ready.remove());
			first = first(this.ready);
		}
		return null;
	}

	private @Nullable Place first(PriorityQueue<Place> queue) {
		Place first = queue.peek();
		while (first != null && !first.isWaiting()) {
			queue.remove();
			this.dead--;
			first = queue.peek();
		}
		return first;
	}

	/**
	 * Takes out the task of {@link #peek}, whose executor is about to be called.
	 */
	void remove(Place next) {
		Line line = removeFirst(next);
		if (line != null) {
			line.trying = true;
		}
		this.size--;
	}

	/**
	 * Lets the task of {@link #peek} wait until a run of its key ends.
	 */
	void block(Place next) {
		removeFirst(next);
		this.blocked.put(next.slot(), next);
	}

	private @Nullable Line removeFirst(Place next) {
		Line line = this.refusing.get(next.executor());
		((line != null) ? line.places : this.ready).remove();
		return line;
	}

	/**
	 * Makes the task of a key ready that waits for the key.
	 * @return whether there is one
	 */
	boolean unblock(Object slot) {
		Place place = this.blocked.remove(slot);
		if (place != null) {
			this.ready.add(place);
		}
		return place != null;
	}

	/**
	 * Makes the tasks ready that wait for their keys.
	 */
	void unblockAll() {
		this.ready.addAll(this.blocked.values());
		this.blocked.clear();
	}

	/**
	 * Takes out a task that waits no more. Its place stays in a queue for some time.
	 */
	void left(Place place) {
		this.size--;
		if (this.blocked.remove(place.slot(), place)) {
			return;
		}
		this.dead++;
		if (this.dead > FEW && this.dead > this.size) {
			this.ready.removeIf((each) -> !each.isWaiting());
			this.refusing.values().forEach((line) -> line.places.removeIf((each) -> !each.isWaiting()));
			this.dead = 0;
		}
	}

	boolean hasReady() {
		return first(this.ready) != null;
	}

	/**
	 * Plans the next calls of the executors that refuse.
	 * @param onRetry takes the time at which such an executor may be called again, for
	 * each of them that may not be called now
	 * @return whether tasks wait for such executors
	 */
	boolean planRetries(long now, LongConsumer onRetry) {
		boolean any = false;
		for (Iterator<Line> lines = this.refusing.values().iterator(); lines.hasNext();) {
			Line line = lines.next();
			if (first(line.places) != null) {
				any = true;
				if (line.retryNanos - now > 0) {
					onRetry.accept(line.retryNanos);
				}
			}
			else if (!line.trying) {
				lines.remove();
			}
		}
		return any;
	}

	/**
	 * Records that an executor has accepted a task. The tasks of its line are ready.
	 */
	void accepted(Executor executor) {
		Line line = this.refusing.remove(executor);
		if (line != null) {
			this.ready.addAll(line.places);
		}
	}

	/**
	 * Records that an executor has refused a task.
	 */
	void refused(Executor executor, long now) {
		this.refusing.computeIfAbsent(executor, (key) -> new Line()).refused(now);
	}

	/**
	 * The tasks that wait for an executor that refuses, and the time at which one of them
	 * is tried again.
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

}

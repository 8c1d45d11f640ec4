package io.timingwheel.spring.durable.support;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.timingwheel.DirectTask;
import io.timingwheel.TimingWheel;
import io.timingwheel.spring.durable.support.StoreAvailability.Caller;
import io.timingwheel.spring.task.internal.Backoff;
import org.jspecify.annotations.Nullable;

/**
 * Sends items to the store in batches, on a thread of its own. Items that are added while
 * a request is under way go with the next request. The batcher sends an item again until
 * the store has taken it. If the store refuses a batch, the items go one by one. An item
 * that the store refuses alone waits for a longer time, and holds up no other.
 * {@link #add} is thread-safe.
 *
 * @param <T> the type of the items
 */
abstract class Batcher<T> {

	private static final long BUSY_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

	private static final long REFUSED_NANOS = TimeUnit.SECONDS.toNanos(1);

	private static final Backoff BACKOFF = new Backoff(Duration.ofMillis(50), 2, Duration.ofSeconds(2), 0.2);

	private final Queue<T> queue = new ConcurrentLinkedQueue<>();

	/** Counts the items in the queue, in the current batch, and on the wheel. */
	private final AtomicInteger outstanding = new AtomicInteger();

	private final StoreLoop loop;

	private final int maxSize;

	private final TimingWheel wheel;

	private final StoreAvailability availability;

	private final Caller caller;

	/** The items that the store has refused alone. */
	private final Set<T> refused = Collections.newSetFromMap(new IdentityHashMap<>());

	private int limit;

	private int failures;

	/**
	 * Creates a batcher that has not started.
	 * @param turns gives the batcher its turns
	 * @param name the thread's name
	 * @param maxSize how many items a batch has at most
	 * @param wheel where items wait to be sent again
	 * @param availability learns whether the store answers
	 * @param caller the name of this batcher for the availability
	 */
	Batcher(NodeTurns turns, String name, int maxSize, TimingWheel wheel, StoreAvailability availability,
			Caller caller) {
		this.maxSize = maxSize;
		this.limit = maxSize;
		this.wheel = wheel;
		this.availability = availability;
		this.caller = caller;
		this.loop = turns.loop(name, this::round);
	}

	/**
	 * Sends items. Only the thread of the batcher calls this.
	 * @param batch the items; the method removes those that need not be sent again
	 */
	abstract void send(List<T> batch);

	/**
	 * Changes an item that the store has refused, so that it may take the item.
	 * @return the item in another form, {@code null} if there is none
	 */
	@Nullable T refused(T item) {
		return null;
	}

	final void start() {
		this.loop.start();
	}

	final void add(T item) {
		this.outstanding.incrementAndGet();
		enqueue(item);
	}

	private void enqueue(T item) {
		this.queue.add(item);
		this.loop.wake();
	}

	private void round() {
		List<T> batch = new ArrayList<>();
		T item;
		while (batch.size() < this.limit && (item = this.queue.poll()) != null) {
			batch.add(item);
		}
		if (batch.isEmpty()) {
			this.loop.await(Long.MAX_VALUE);
			return;
		}
		int size = batch.size();
		List<T> sent = List.copyOf(batch);
		try {
			send(batch);
			sent.forEach(this.refused::remove);
			if (this.refused.isEmpty()) {
				this.availability.succeeded(this.caller);
			}
			this.failures = 0;
			this.limit = Math.min(2 * this.limit, this.maxSize);
			batch.forEach((each) -> addLater(each, BUSY_NANOS));
		}
		catch (Throwable ex) {
			if (this.availability.isRefusal(ex)) {
				refused(batch, ex);
				return;
			}
			this.availability.failed(this.caller, ex);
			// If one item makes its requests fail, the other items succeed one by one.
			this.limit = 1;
			this.queue.addAll(batch);
			this.failures++;
			this.loop.sleep(BACKOFF.after(this.failures).toNanos());
		}
		finally {
			this.outstanding.addAndGet(batch.size() - size);
		}
	}

	private void refused(List<T> batch, Throwable error) {
		this.limit = 1;
		if (batch.size() != 1) {
			this.queue.addAll(batch);
			return;
		}
		T item = batch.get(0);
		T other = refused(item);
		if (other != null) {
			batch.set(0, other);
			this.refused.remove(item);
			this.queue.add(other);
			return;
		}
		this.refused.add(item);
		this.availability.failed(this.caller, error);
		addLater(item, REFUSED_NANOS);
	}

	private void addLater(T item, long nanos) {
		try {
			this.wheel.schedule((DirectTask) () -> enqueue(item), nanos, TimeUnit.NANOSECONDS);
		}
		catch (RuntimeException ex) {
			// The wheel is full.
			enqueue(item);
		}
	}

	/**
	 * Tells whether the store has taken all items.
	 */
	final boolean isEmpty() {
		return this.outstanding.get() <= 0;
	}

	/**
	 * Ends the thread after its current batch.
	 */
	final void stop() {
		this.loop.stop();
	}

	final void join(Duration period) throws InterruptedException {
		this.loop.join(period);
	}

}

package io.timingwheel.spring.durable.support;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.timingwheel.DirectTask;
import io.timingwheel.TimingWheel;
import io.timingwheel.spring.durable.support.StoreAvailability.Caller;
import io.timingwheel.spring.task.support.Backoff;

/**
 * Sends items to the store in batches, on a thread of its own. Items that are added while
 * a request is under way go with the next request. The batcher sends an item again until
 * the store has taken it. {@link #add} is thread-safe.
 *
 * @param <T> the type of the items
 */
abstract class Batcher<T> {

	private static final long BUSY_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

	private static final Backoff BACKOFF = new Backoff(Duration.ofMillis(50), 2, Duration.ofSeconds(2), 0.2);

	private final Queue<T> queue = new ConcurrentLinkedQueue<>();

	/** Counts the items in the queue, in the current batch, and on the wheel. */
	private final AtomicInteger outstanding = new AtomicInteger();

	private final StoreLoop loop;

	private final int maxSize;

	private final TimingWheel wheel;

	private final StoreAvailability availability;

	private final Caller caller;

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
		try {
			send(batch);
			this.availability.succeeded(this.caller);
			this.failures = 0;
			this.limit = Math.min(2 * this.limit, this.maxSize);
			batch.forEach(this::addLater);
		}
		catch (Throwable ex) {
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

	private void addLater(T item) {
		try {
			this.wheel.schedule((DirectTask) () -> enqueue(item), BUSY_NANOS, TimeUnit.NANOSECONDS);
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

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

/**
 * Says things to the store on a thread of its own: what comes up while a request is under
 * way goes with the next one. What could not be said is said again until it could.
 *
 * @param <T> what is to be said
 */
final class Batcher<T> {

	private static final long BUSY_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

	private static final Duration FIRST_BACKOFF = Duration.ofMillis(50);

	private static final Duration MAX_BACKOFF = Duration.ofSeconds(2);

	private static final Backoff BACKOFF = new Backoff(FIRST_BACKOFF, 2, MAX_BACKOFF, 0.2);

	private final Queue<T> queue = new ConcurrentLinkedQueue<>();

	/** Those in the queue, in the current batch, and those that wait to be said again. */
	private final AtomicInteger outstanding = new AtomicInteger();

	private final Signal signal = new Signal();

	private final StoreThread thread;

	private final BatchHandler<T> handler;

	private final int maxSize;

	private final TimingWheel wheel;

	private final StoreAvailability availability;

	private final Caller caller;

	private int limit;

	private int failures;

	/**
	 * Creates a batcher, to be started.
	 * @param name the thread's name
	 * @param handler says things
	 * @param maxSize how many things at most go into one batch
	 * @param wheel has busy ones wait
	 * @param availability hears of failures
	 * @param caller who the connection hears of
	 */
	Batcher(String name, BatchHandler<T> handler, int maxSize, TimingWheel wheel, StoreAvailability availability,
			Caller caller) {
		this.handler = handler;
		this.maxSize = maxSize;
		this.limit = maxSize;
		this.wheel = wheel;
		this.availability = availability;
		this.caller = caller;
		this.thread = new StoreThread(name, this::round, this.signal);
	}

	void start() {
		this.thread.start();
	}

	void add(T item) {
		this.outstanding.incrementAndGet();
		enqueue(item);
	}

	private void enqueue(T item) {
		this.queue.add(item);
		this.signal.raise();
	}

	private void round() {
		List<T> batch = new ArrayList<>();
		T item;
		while (batch.size() < this.limit && (item = this.queue.poll()) != null) {
			batch.add(item);
		}
		if (batch.isEmpty()) {
			this.signal.await(Long.MAX_VALUE);
			return;
		}
		int size = batch.size();
		try {
			this.handler.handle(batch);
			this.availability.succeeded(this.caller);
			this.failures = 0;
			this.limit = Math.min(2 * this.limit, this.maxSize);
			batch.forEach(this::addLater);
		}
		catch (Throwable ex) {
			this.availability.failed(this.caller, ex);
			// Perhaps it is one item alone that fails: the others get by.
			this.limit = 1;
			this.queue.addAll(batch);
			if (!this.thread.isStopped()) {
				this.failures = Math.min(this.failures + 1, 30);
				pause(BACKOFF.after(this.failures).toNanos());
			}
		}
		finally {
			this.outstanding.addAndGet(batch.size() - size);
		}
	}

	/**
	 * Waits, although new items come up.
	 */
	private void pause(long nanos) {
		long end = System.nanoTime() + nanos;
		for (long left = nanos; left > 0 && !this.thread.isStopped(); left = end - System.nanoTime()) {
			this.signal.await(left);
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
	 * Waits until everything is said.
	 */
	boolean awaitEmpty(Duration period) throws InterruptedException {
		long end = System.nanoTime() + period.toNanos();
		while (this.outstanding.get() > 0) {
			if (System.nanoTime() - end > 0) {
				return false;
			}
			TimeUnit.MILLISECONDS.sleep(5);
		}
		return true;
	}

	/**
	 * Ends the thread after its batch.
	 */
	void stop() {
		this.thread.stop();
	}

	void join(Duration period) throws InterruptedException {
		this.thread.join(period);
	}

	/**
	 * Says things.
	 *
	 * @param <T> what is to be said
	 */
	@FunctionalInterface
	interface BatchHandler<T> {

		/**
		 * Says things, and removes from the list what needs not be said again. What is
		 * left is, in a while.
		 */
		void handle(List<T> batch);

	}

}

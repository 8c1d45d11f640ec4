package io.timingwheel.spring.durable.node;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

import io.timingwheel.spring.durable.node.StoreAvailability.Caller;
import io.timingwheel.spring.task.internal.Backoff;

/**
 * Sends items to the store in batches, in a loop of its own. Items that are added while a
 * request is under way go with the next one. An item is sent again until the store has
 * taken it. If the store refuses a batch, the items go one by one. An item that the store
 * refuses alone is sent in another form, or waits for a longer time, and holds up no
 * other. {@link #add} is thread-safe.
 *
 * @param <T> the type of the items
 */
final class Batcher<T> {

	private static final long BUSY_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

	private static final long REFUSED_NANOS = TimeUnit.SECONDS.toNanos(1);

	private static final Backoff BACKOFF = new Backoff(Duration.ofMillis(50), 2, Duration.ofSeconds(2), 0.2);

	private final Queue<T> queue = new ConcurrentLinkedQueue<>();

	/** Counts the items in the queue, in the current batch, and on the wheel. */
	private final AtomicInteger outstanding = new AtomicInteger();

	private final NodeParts parts;

	private final NodeLoop loop;

	private final Caller caller;

	private final Consumer<List<T>> sender;

	private final UnaryOperator<T> otherForm;

	private int limit;

	private int failures;

	/** Until when an item that was refused alone keeps the store from being fine. */
	private long refusedUntil;

	/**
	 * Creates a batcher that has not started.
	 * @param parts the parts of the node
	 * @param name the name of the loop
	 * @param caller who calls the store
	 * @param sender sends the items of a batch, and removes from the list those that need
	 * not be sent again
	 * @param otherForm changes an item that the store has refused, so that it may take
	 * the item; gives the same if there is no other form
	 */
	Batcher(NodeParts parts, String name, Caller caller, Consumer<List<T>> sender, UnaryOperator<T> otherForm) {
		this.parts = parts;
		this.caller = caller;
		this.sender = sender;
		this.otherForm = otherForm;
		this.limit = parts.settings().maxRequest();
		this.refusedUntil = parts.nanoTime();
		this.loop = parts.loops().loop(name, this::round);
	}

	NodeLoop loop() {
		return this.loop;
	}

	void add(T item) {
		this.outstanding.incrementAndGet();
		enqueue(item);
	}

	/**
	 * Tells whether the store has taken all items.
	 */
	boolean isEmpty() {
		return this.outstanding.get() <= 0;
	}

	private void enqueue(T item) {
		this.queue.add(item);
		this.loop.wake();
	}

	private void enqueueLater(T item, long nanos) {
		if (!this.parts.runLater(() -> enqueue(item), nanos)) {
			enqueue(item);
		}
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
		Throwable error = null;
		try {
			this.sender.accept(batch);
		}
		catch (Throwable ex) {
			error = ex;
		}
		this.outstanding.addAndGet(batch.size() - size);
		if (error == null) {
			succeeded(batch);
		}
		else if (this.parts.availability().isRefusal(error)) {
			refused(batch, error);
		}
		else {
			failed(batch, error);
		}
	}

	private void succeeded(List<T> busy) {
		if (this.parts.nanoTime() - this.refusedUntil >= 0) {
			this.parts.availability().succeeded(this.caller);
		}
		this.failures = 0;
		this.limit = Math.min(2 * this.limit, this.parts.settings().maxRequest());
		busy.forEach((item) -> enqueueLater(item, BUSY_NANOS));
	}

	/**
	 * Sends the rest of a batch again. If one item makes its requests fail, the other
	 * items succeed one by one.
	 */
	private void failed(List<T> rest, Throwable error) {
		this.parts.availability().failed(this.caller, error);
		this.limit = 1;
		this.queue.addAll(rest);
		this.failures++;
		this.loop.sleep(BACKOFF.after(this.failures).toNanos());
	}

	private void refused(List<T> rest, Throwable error) {
		this.limit = 1;
		if (rest.size() != 1) {
			this.queue.addAll(rest);
			return;
		}
		T item = rest.get(0);
		T other = this.otherForm.apply(item);
		if (other != item) {
			this.queue.add(other);
			return;
		}
		this.parts.availability().failed(this.caller, error);
		this.refusedUntil = this.parts.nanoTime() + 2 * REFUSED_NANOS;
		enqueueLater(item, REFUSED_NANOS);
	}

}

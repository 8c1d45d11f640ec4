package io.timingwheel.spring.durable.node;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;

import io.timingwheel.spring.durable.node.StoreAvailability.Caller;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Reply;

/**
 * Sends tasks to the store in batches, each until the store has replied. What the store
 * refuses goes one by one, and a task that it refuses alone goes again later.
 * {@link #add} is thread-safe; only the loop calls the abstract methods.
 */
abstract class Batcher {

	private static final long BUSY_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

	private static final long REFUSED_NANOS = TimeUnit.SECONDS.toNanos(1);

	final NodeParts parts;

	private final Queue<Run> queue = new ConcurrentLinkedQueue<>();

	final NodeLoop loop;

	private final Caller caller;

	private int limit;

	/** Until when a task that was refused alone keeps the store from being fine. */
	private long refusedUntil;

	Batcher(NodeParts parts, String name, Caller caller) {
		this.parts = parts;
		this.caller = caller;
		this.limit = parts.settings.maxRequest();
		this.refusedUntil = parts.nanoTime();
		this.loop = parts.loop(name, this::round);
	}

	/** Whether a task goes with the next request; otherwise the batcher forgets it. */
	boolean admits(Run run) {
		return true;
	}

	abstract List<Reply> request(List<Run> batch);

	/** A task that is sent again, also for want of a reply, is {@link Reply#BUSY}. */
	abstract void replied(Run run, Reply reply);

	void add(Run run) {
		this.queue.add(run);
		this.loop.wake();
	}

	void addLater(Run run, long nanos) {
		if (!this.parts.runLater(() -> add(run), nanos)) {
			add(run);
		}
	}

	private void round() {
		List<Run> batch = new ArrayList<>();
		Run run;
		while (batch.size() < this.limit && (run = this.queue.poll()) != null) {
			if (admits(run)) {
				batch.add(run);
			}
		}
		if (batch.isEmpty()) {
			long refused = this.refusedUntil - this.parts.nanoTime();
			if (refused <= 0) {
				// The tasks of a request that has failed may have been given back.
				this.parts.availability.idle(this.caller);
			}
			this.loop.await(0, (refused > 0) ? refused : Long.MAX_VALUE);
			return;
		}
		List<Reply> replies;
		try {
			replies = request(batch);
		}
		catch (Throwable ex) {
			failed(batch, ex);
			return;
		}
		replied(batch, replies);
	}

	private void replied(List<Run> batch, List<Reply> replies) {
		if (this.parts.nanoTime() - this.refusedUntil >= 0) {
			this.parts.availability.succeeded(this.caller);
		}
		this.limit = Math.min(2 * this.limit, this.parts.settings.maxRequest());
		for (int i = 0; i < batch.size(); i++) {
			Run run = batch.get(i);
			try {
				replied(run, replies.get(i));
			}
			catch (Throwable ex) {
				this.parts.held.forget(run, ex);
			}
			if (replies.get(i) == Reply.BUSY) {
				addLater(run, BUSY_NANOS);
			}
		}
	}

	/** If one task makes its requests fail, the others succeed one by one. */
	private void failed(List<Run> batch, Throwable error) {
		this.limit = 1;
		batch.forEach((run) -> replied(run, Reply.BUSY));
		boolean refused = this.parts.store.isRefusal(error);
		if (refused && batch.size() > 1) {
			this.queue.addAll(batch);
			return;
		}
		long pause = this.parts.availability.failed(this.caller, error);
		if (refused) {
			this.refusedUntil = this.parts.nanoTime() + 2 * REFUSED_NANOS;
			addLater(batch.get(0), REFUSED_NANOS);
			return;
		}
		this.queue.addAll(batch);
		this.loop.sleep(pause);
	}

}

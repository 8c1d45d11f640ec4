package io.timingwheel.spring.durable.node;

import java.time.Duration;
import java.util.List;

import io.timingwheel.spring.durable.node.DurableNode.Figure;
import io.timingwheel.spring.durable.node.StoreAvailability.Caller;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Reply;
import io.timingwheel.spring.task.internal.TaskLog;
import org.apache.commons.logging.LogFactory;

/**
 * Renews the leases of the tasks that have begun, many with one request, and gives up the
 * tasks whose leases have ended. A timer on the wheel watches for these, since a request
 * for renewal may take longer than a lease. Thread-safe.
 */
final class LeaseKeeper {

	private static final int ROUNDS_PER_LEASE = 10;

	private static final int MAX_BATCH = 1000;

	private final TaskLog lostLeases = new TaskLog(LogFactory.getLog(LeaseKeeper.class));

	private final NodeParts parts;

	private final Held held;

	private final NodeLoop loop;

	private final long roundNanos;

	/** Whether some task may have begun, so that there are rounds. */
	private volatile boolean watching;

	LeaseKeeper(NodeParts parts, Held held) {
		this.parts = parts;
		this.held = held;
		this.loop = parts.loops().loop("timing-wheel-leases", this::round);
		this.roundNanos = parts.settings().lease().toNanos() / ROUNDS_PER_LEASE;
	}

	NodeLoop loop() {
		return this.loop;
	}

	/**
	 * Watches the leases until no task is left that has begun. Called when one has begun.
	 */
	void watch() {
		if (!this.watching) {
			startWatch();
		}
	}

	private synchronized void startWatch() {
		if (!this.watching) {
			this.watching = true;
			watchAgain();
			this.loop.wake();
		}
	}

	/**
	 * If the wheel is full, the rounds of the loop have to do.
	 */
	private void watchAgain() {
		this.parts.runLater(() -> {
			giveUpEnded();
			if (mustWatch()) {
				watchAgain();
			}
		}, this.roundNanos);
	}

	private synchronized boolean mustWatch() {
		this.watching = this.held.runs().stream().anyMatch(Run::isLeased);
		return this.watching;
	}

	private void giveUpEnded() {
		long now = this.parts.nanoTime();
		for (Run run : this.held.runs()) {
			if (run.isLeased() && run.term().isOver(now)) {
				lose(run);
			}
		}
	}

	/**
	 * Gives up a task whose lease has ended. If the body has ended too, the node keeps
	 * the task, and the store decides whether the body ended in time.
	 */
	void lose(Run run) {
		if (run.loseLease()) {
			this.parts.count(Figure.LOST_LEASES, 1);
			this.lostLeases.warn("The lease of the durable task %s has ended: another node may run it".formatted(run));
			this.held.remove(run);
		}
	}

	private void round() {
		giveUpEnded();
		long now = this.parts.nanoTime();
		List<Run> due = this.held.runs()
			.stream()
			.filter((run) -> run.isLeased() && run.term().isToBeRenewed(now))
			.toList();
		if (due.isEmpty()) {
			this.parts.availability().idle(Caller.RENEW);
		}
		for (int from = 0; from < due.size(); from += MAX_BATCH) {
			renew(due.subList(from, Math.min(due.size(), from + MAX_BATCH)));
		}
		this.loop.await(mustWatch() ? this.roundNanos : Long.MAX_VALUE);
	}

	private void renew(List<Run> runs) {
		Duration lease = this.parts.settings().lease();
		Term term = new Term(this.parts.nanoTime(), lease.toNanos());
		List<Reply> replies;
		try {
			replies = this.parts.store().renew(runs.stream().map(Run::ref).toList(), lease);
		}
		catch (RuntimeException ex) {
			// The next round tries again.
			this.parts.availability().failed(Caller.RENEW, ex);
			return;
		}
		this.parts.availability().succeeded(Caller.RENEW);
		for (int i = 0; i < runs.size(); i++) {
			switch (replies.get(i)) {
				case DONE -> runs.get(i).renewed(term);
				case REFUSED, SUPERSEDED -> lose(runs.get(i));
				case BUSY -> {
					// The next round tries again.
				}
			}
		}
	}

	/**
	 * How long a node trusts a lease, by its own monotonic clock: from before the request
	 * for the lease until a margin before the end of the lease.
	 *
	 * @param requestedAt the time before the request, in nanoseconds
	 * @param nanos how long the lease lasts
	 */
	record Term(long requestedAt, long nanos) {

		static final Term NONE = new Term(0, 0);

		/** The margin is a tenth of the lease. */
		private static final int MARGIN = 10;

		/**
		 * A lease is renewed after a third of its time, so that two renewals may fail.
		 */
		private static final int RENEWALS = 3;

		boolean isOver(long now) {
			return now - this.requestedAt >= this.nanos - this.nanos / MARGIN;
		}

		boolean isToBeRenewed(long now) {
			return now - this.requestedAt >= this.nanos / RENEWALS;
		}

	}

}

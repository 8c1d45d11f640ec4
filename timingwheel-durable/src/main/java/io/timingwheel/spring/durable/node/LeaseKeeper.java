package io.timingwheel.spring.durable.node;

import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

import io.timingwheel.spring.durable.node.StoreAvailability.Caller;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Reply;

/**
 * Renews the leases of the tasks that have begun, and gives up tasks whose leases have
 * ended. A request may take longer than a lease, so each of the two has a loop.
 * Thread-safe.
 */
final class LeaseKeeper {

	private static final int ROUNDS_PER_LEASE = 10;

	private static final int MAX_BATCH = 1000;

	private final NodeParts parts;

	private final NodeLoop losses;

	private final NodeLoop renewals;

	private final long roundNanos;

	/** The trust that is left after a third of a lease, so that two renewals may fail. */
	private final long renewedBefore;

	LeaseKeeper(NodeParts parts) {
		this.parts = parts;
		this.losses = parts.loop("timing-wheel-lost-leases", this::lose);
		this.renewals = parts.loop("timing-wheel-leases", this::renew);
		long lease = parts.settings.lease().toNanos();
		this.roundNanos = lease / ROUNDS_PER_LEASE;
		this.renewedBefore = parts.settings.trustedNanos() - lease / 3;
	}

	private void lose() {
		trustedFor(0).forEach(this.parts.held::lose);
		this.losses.sleep(this.roundNanos);
	}

	/** The tasks whose leases the node trusts for this time at most. */
	private Stream<Run> trustedFor(long nanos) {
		long now = this.parts.nanoTime();
		return this.parts.held.runs.stream().filter((run) -> run.isLeased() && run.trustedUntil - now <= nanos);
	}

	private void renew() {
		trustedFor(0).forEach(this.parts.held::lose);
		List<Run> due = trustedFor(this.renewedBefore).toList();
		if (due.isEmpty()) {
			this.parts.availability.idle(Caller.RENEW);
		}
		for (int from = 0; from < due.size(); from += MAX_BATCH) {
			// The request before may have taken longer than a lease.
			renew(due.subList(from, Math.min(due.size(), from + MAX_BATCH)).stream().filter(Run::isLeased).toList());
		}
		this.renewals.sleep(this.roundNanos);
	}

	private void renew(List<Run> runs) {
		if (runs.isEmpty()) {
			return;
		}
		Duration lease = this.parts.settings.lease();
		long trustedUntil = this.parts.nanoTime() + this.parts.settings.trustedNanos();
		try {
			List<Reply> replies = this.parts.store.renew(runs.stream().map((run) -> run.task.ref()).toList(), lease);
			this.parts.availability.succeeded(Caller.RENEW);
			for (int i = 0; i < runs.size(); i++) {
				if (replies.get(i) == Reply.DONE) {
					runs.get(i).trustedUntil = trustedUntil;
				}
				else if (replies.get(i) != Reply.BUSY) {
					this.parts.held.lose(runs.get(i));
				}
			}
		}
		catch (RuntimeException ex) {
			// The next round tries again, as for a task that is busy.
			this.parts.availability.failed(Caller.RENEW, ex);
		}
	}

}

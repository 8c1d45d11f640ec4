package io.timingwheel.spring.durable.support;

import java.time.Duration;
import java.util.List;

import io.timingwheel.spring.durable.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.support.StoreAvailability.Caller;

/**
 * Renews the leases of the tasks that have begun, many with one request, and gives up the
 * tasks whose leases have ended. Two loops do this, since a request for renewal may take
 * longer than a lease.
 */
final class LeaseKeeper {

	private static final int ROUNDS_PER_LEASE = 10;

	private static final int MAX_BATCH = 1000;

	private final NodeTurns turns;

	private final DelayedTaskStore store;

	private final Duration lease;

	private final InFlight inFlight;

	private final StoreAvailability availability;

	private final StoreLoop renewals;

	private final StoreLoop watch;

	LeaseKeeper(NodeTurns turns, DelayedTaskStore store, DurableSettings settings, InFlight inFlight,
			StoreAvailability availability) {
		this.turns = turns;
		this.store = store;
		this.lease = settings.lease();
		this.inFlight = inFlight;
		this.availability = availability;
		this.renewals = turns.loop("timing-wheel-leases", this::renewDue);
		this.watch = turns.loop("timing-wheel-lease-watch", this::giveUpEnded);
	}

	void start() {
		this.renewals.start();
		this.watch.start();
	}

	/**
	 * Looks at the leases again after a pause in which the node had none.
	 */
	void wake() {
		this.renewals.wake();
		this.watch.wake();
	}

	void stop() {
		this.renewals.stop();
		this.watch.stop();
	}

	void join(Duration period) throws InterruptedException {
		this.renewals.join(period);
		this.watch.join(period);
	}

	private void giveUpEnded() {
		this.inFlight.runs()
			.stream()
			.filter((run) -> run.isHeld() && run.term().isOver(this.turns))
			.forEach(this.inFlight::loseLease);
		this.watch.await(roundNanos());
	}

	private void renewDue() {
		List<DurableRun> due = this.inFlight.runs()
			.stream()
			.filter((run) -> run.isHeld() && run.term().isToBeRenewed(this.turns) && !run.term().isOver(this.turns))
			.toList();
		if (due.isEmpty()) {
			this.availability.idle(Caller.RENEW);
		}
		for (int from = 0; from < due.size(); from += MAX_BATCH) {
			renew(due.subList(from, Math.min(due.size(), from + MAX_BATCH)));
		}
		this.renewals.await(roundNanos());
	}

	private long roundNanos() {
		long nanos = this.lease.toNanos() / ROUNDS_PER_LEASE;
		return this.inFlight.isEmpty() ? this.turns.idleNanos(nanos) : nanos;
	}

	private void renew(List<DurableRun> runs) {
		LeaseTerm term = LeaseTerm.of(this.turns, this.lease);
		List<Reply> replies;
		try {
			replies = this.store.renew(runs.stream().map(DurableRun::ref).toList(), this.lease);
		}
		catch (RuntimeException ex) {
			// The next round tries again.
			this.availability.failed(Caller.RENEW, ex);
			return;
		}
		this.availability.succeeded(Caller.RENEW);
		for (int i = 0; i < runs.size(); i++) {
			DurableRun run = runs.get(i);
			switch (replies.get(i)) {
				case DONE -> run.renewed(term);
				case REFUSED, SUPERSEDED -> this.inFlight.loseLease(run);
				case BUSY -> {
					// The next round tries again.
				}
			}
		}
	}

}

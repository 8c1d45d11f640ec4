package io.timingwheel.spring.durable.support;

import java.time.Duration;
import java.util.List;

import io.timingwheel.spring.durable.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.support.StoreAvailability.Caller;

/**
 * Renews the leases of the tasks that have begun, many with one request, and gives up the
 * tasks whose leases have ended. Two threads do this, since a request for renewal may
 * take longer than a lease.
 */
final class LeaseKeeper {

	private static final int ROUNDS_PER_LEASE = 10;

	private static final int MAX_BATCH = 1000;

	private final DelayedTaskStore store;

	private final Duration lease;

	private final InFlight inFlight;

	private final StoreAvailability availability;

	private final StoreThread renewals = new StoreThread("timing-wheel-leases", this::renewDue);

	private final StoreThread watch = new StoreThread("timing-wheel-lease-watch", this::giveUpEnded);

	LeaseKeeper(DelayedTaskStore store, DurableSettings settings, InFlight inFlight, StoreAvailability availability) {
		this.store = store;
		this.lease = settings.lease();
		this.inFlight = inFlight;
		this.availability = availability;
	}

	void start() {
		this.renewals.start();
		this.watch.start();
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
		this.watch.await(roundNanos());
		this.inFlight.runs()
			.stream()
			.filter((run) -> run.isHeld() && run.term().isOver())
			.forEach(this.inFlight::loseLease);
	}

	private void renewDue() {
		this.renewals.await(roundNanos());
		if (this.renewals.isStopped()) {
			return;
		}
		List<DurableRun> due = this.inFlight.runs()
			.stream()
			.filter((run) -> run.isHeld() && run.term().isToBeRenewed() && !run.term().isOver())
			.toList();
		if (due.isEmpty()) {
			this.availability.idle(Caller.RENEW);
		}
		for (int from = 0; from < due.size(); from += MAX_BATCH) {
			renew(due.subList(from, Math.min(due.size(), from + MAX_BATCH)));
		}
	}

	private long roundNanos() {
		return this.lease.toNanos() / ROUNDS_PER_LEASE;
	}

	private void renew(List<DurableRun> runs) {
		LeaseTerm term = LeaseTerm.of(this.lease);
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

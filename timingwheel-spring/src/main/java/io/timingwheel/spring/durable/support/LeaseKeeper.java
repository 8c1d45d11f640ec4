package io.timingwheel.spring.durable.support;

import java.time.Duration;
import java.util.List;

import io.timingwheel.spring.durable.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.support.StoreAvailability.Caller;

/**
 * Renews the leases of the tasks that have begun, all in one go, and gives up those that
 * are over: on a thread of its own, as a request for renewal may hang for longer than a
 * lease.
 */
final class LeaseKeeper {

	private static final int ROUNDS_PER_LEASE = 10;

	private static final int MAX_BATCH = 1000;

	private final DurableNode node;

	private final InFlight inFlight;

	private final Signal renewing = new Signal();

	private final StoreThread renewals = new StoreThread("timing-wheel-leases", this::renewDue, this.renewing);

	private final Signal watching = new Signal();

	private final StoreThread watch = new StoreThread("timing-wheel-lease-watch", this::giveUpOver, this.watching);

	LeaseKeeper(DurableNode node, InFlight inFlight) {
		this.node = node;
		this.inFlight = inFlight;
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

	private void giveUpOver() {
		await(this.watching);
		this.inFlight.runs()
			.stream()
			.filter((run) -> run.isHeld() && run.term().isOver())
			.forEach(this.node::loseLease);
	}

	private void renewDue() {
		await(this.renewing);
		if (this.renewals.isStopped()) {
			return;
		}
		List<DurableRun> due = this.inFlight.runs()
			.stream()
			.filter((run) -> run.isHeld() && run.term().isToBeRenewed() && !run.term().isOver())
			.toList();
		if (due.isEmpty()) {
			this.node.availability().idle(Caller.RENEW);
		}
		for (int from = 0; from < due.size(); from += MAX_BATCH) {
			renew(due.subList(from, Math.min(due.size(), from + MAX_BATCH)));
		}
	}

	private void await(Signal signal) {
		signal.await(this.node.settings().lease().toNanos() / ROUNDS_PER_LEASE);
	}

	private void renew(List<DurableRun> runs) {
		LeaseTerm term = LeaseTerm.of(this.node.settings().lease());
		List<Reply> replies;
		try {
			replies = this.node.store()
				.renew(runs.stream().map(DurableRun::ref).toList(), this.node.settings().lease());
		}
		catch (RuntimeException ex) {
			// The next round tries again.
			this.node.availability().failed(Caller.RENEW, ex);
			return;
		}
		this.node.availability().succeeded(Caller.RENEW);
		for (int i = 0; i < runs.size(); i++) {
			DurableRun run = runs.get(i);
			switch (replies.get(i)) {
				case DONE -> run.renewed(term);
				case REFUSED, SUPERSEDED -> this.node.loseLease(run);
				case BUSY -> {
					// The next round tries again.
				}
			}
		}
	}

}

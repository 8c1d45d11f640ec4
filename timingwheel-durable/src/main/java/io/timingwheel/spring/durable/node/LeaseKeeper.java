package io.timingwheel.spring.durable.node;

import java.time.Duration;
import java.util.List;
import java.util.function.Predicate;

import io.timingwheel.spring.durable.node.StoreAvailability.Caller;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Reply;
import io.timingwheel.spring.task.internal.TaskLog;
import org.apache.commons.logging.LogFactory;

/**
 * Renews the leases of the tasks that have begun, and gives up tasks whose leases have
 * ended. A request may take longer than a lease, so a timer on the wheel watches
 * meanwhile. Thread-safe.
 */
final class LeaseKeeper {

	private static final int ROUNDS_PER_LEASE = 10;

	private static final int MAX_BATCH = 1000;

	private final TaskLog lostLeases = new TaskLog(LogFactory.getLog(LeaseKeeper.class));

	private final NodeParts parts;

	private final NodeLoop loop;

	private final long roundNanos;

	/** Counts the rounds, which tells a timer whether its requests have ended. */
	private volatile int rounds;

	LeaseKeeper(NodeParts parts) {
		this.parts = parts;
		this.loop = parts.loop("timing-wheel-leases", this::round);
		this.roundNanos = parts.settings.lease().toNanos() / ROUNDS_PER_LEASE;
	}

	/** If the body has ended, the store decides whether it did so in time. */
	void lose(Run run) {
		if (run.loseLease()) {
			this.parts.lostLeases.increment();
			this.lostLeases.warn("The lease of the durable task %s has ended: another node may run it".formatted(run));
			this.parts.held.remove(run);
		}
	}

	private List<Run> leased(Predicate<Term> term) {
		return this.parts.held.runs().stream().filter((run) -> run.isLeased() && term.test(run.term)).toList();
	}

	private void round() {
		int round = this.rounds;
		long now = this.parts.nanoTime();
		loseEnded();
		List<Run> due = leased((term) -> term.isToBeRenewed(now));
		if (due.isEmpty()) {
			this.parts.availability.idle(Caller.RENEW);
		}
		else {
			loseDuring(round);
			for (int from = 0; from < due.size(); from += MAX_BATCH) {
				renew(due.subList(from, Math.min(due.size(), from + MAX_BATCH)));
			}
		}
		this.rounds = round + 1;
		this.loop.await(this.roundNanos, this.parts.factory.polls() ? this.roundNanos : Long.MAX_VALUE);
	}

	private void loseEnded() {
		long now = this.parts.nanoTime();
		leased((term) -> term.isOver(now)).forEach(this::lose);
	}

	private void loseDuring(int round) {
		this.parts.runLater(() -> {
			if (this.rounds == round) {
				loseEnded();
				loseDuring(round);
			}
		}, this.roundNanos);
	}

	private void renew(List<Run> runs) {
		Duration lease = this.parts.settings.lease();
		Term term = new Term(this.parts.nanoTime(), lease.toNanos());
		try {
			List<Reply> replies = this.parts.store.renew(runs.stream().map((run) -> run.task.ref()).toList(), lease);
			this.parts.availability.succeeded(Caller.RENEW);
			for (int i = 0; i < runs.size(); i++) {
				if (replies.get(i) == Reply.DONE) {
					runs.get(i).term = term;
				}
				else if (replies.get(i) != Reply.BUSY) {
					lose(runs.get(i));
				}
			}
		}
		catch (RuntimeException ex) {
			// The next round tries again, as for a task that is busy.
			this.parts.availability.failed(Caller.RENEW, ex);
		}
	}

	/**
	 * How long a node trusts a lease, by its own monotonic clock: from before the request
	 * until a margin before the end of the lease.
	 */
	record Term(long requestedAt, long nanos) {

		static final Term NONE = new Term(0, 0);

		private static final int MARGIN = 10;

		/** After a third of its time, so that two renewals may fail. */
		private static final int RENEWALS = 3;

		boolean isOver(long now) {
			return now - this.requestedAt >= this.nanos - this.nanos / MARGIN;
		}

		boolean isToBeRenewed(long now) {
			return now - this.requestedAt >= this.nanos / RENEWALS;
		}

	}

}

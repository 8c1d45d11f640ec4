package io.timingwheel.spring.durable.node;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

import io.timingwheel.spring.durable.node.StoreAvailability.Caller;
import io.timingwheel.spring.durable.store.ClaimRequest;
import io.timingwheel.spring.durable.store.ClaimRequest.Claimed;

/**
 * Claims tasks that are due soon. A claim for a suspect takes nothing else, so such
 * claims and others take turns.
 */
final class Poller {

	/** The look-ahead while there are tasks: the earliest ones get the room. */
	private static final Duration BUSY_LOOK_AHEAD = Duration.ofMillis(300);

	/** The longest wait while there are tasks: other nodes may store further ones. */
	private static final long BUSY_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

	/** The shortest wait for a task that was not claimed since it is locked. */
	private static final long LOCKED_MILLIS = 50;

	/** The pause after a claim, in which tasks of this node gather for the next. */
	private static final long REST_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

	/** The pause after a small claim in a backlog, in which room gathers. */
	private static final long BACKLOG_REST_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

	/** How long before its due time a task is claimed that this node has stored. */
	private static final long LEAD_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

	private final NodeParts parts;

	private final Names names;

	private final Beginner beginner;

	private final Settler settler;

	private final StoreClock clock;

	final NodeLoop loop;

	private final long pollNanos;

	/** When a timer of {@link #expect} wakes the node, or has done so. */
	private volatile long wakeAt;

	private boolean busy;

	private long claimedAt;

	/** By how many nanoseconds the node's clock is ahead of the store's. */
	private long ahead;

	private long suspectAt;

	private boolean lastWasSuspect;

	Poller(NodeParts parts, Names names, Beginner beginner, Settler settler) {
		this.parts = parts;
		this.names = names;
		this.beginner = beginner;
		this.settler = settler;
		this.clock = new StoreClock(parts::nanoTime);
		this.loop = parts.loop("timing-wheel-poller", this::round);
		this.pollNanos = TimeUnit.NANOSECONDS.convert(parts.settings.pollInterval());
		this.suspectAt = parts.nanoTime();
		this.wakeAt = this.suspectAt;
		this.claimedAt = this.suspectAt - this.pollNanos;
		parts.poller = this.loop;
	}

	void expect(long millis) {
		long nanos = TimeUnit.MILLISECONDS.toNanos(millis);
		if (nanos >= this.parts.factory.poll(this.pollNanos)) {
			return;
		}
		long lead = Math.min(LEAD_NANOS, this.parts.settings.lookAhead().toNanos());
		if (nanos <= lead) {
			this.loop.wake();
			return;
		}
		long now = this.parts.nanoTime();
		long time = now + nanos - lead;
		long earlier = this.wakeAt;
		if (earlier - now <= 0 || earlier - time > 0) {
			this.wakeAt = time;
			// If the wheel is full, the next poll finds the task.
			this.parts.runLater(this.loop::wake, nanos - lead);
		}
	}

	private void round() {
		if (!this.parts.held.open) {
			// A claim that was under way when the node was paused may have failed.
			this.parts.availability.idle(Caller.CLAIM);
			this.loop.await(0, Long.MAX_VALUE);
			return;
		}
		long blocked = this.parts.held.blockedNanos();
		if (blocked > 0) {
			this.loop.await(0, blocked);
			return;
		}
		long now = this.parts.nanoTime();
		boolean suspect = !this.lastWasSuspect && isSuspectDue(now);
		int free = this.parts.held.free();
		ClaimRequest request = this.names.plan(free, suspect, lookAhead());
		long pollIn = this.pollNanos - (now - this.claimedAt);
		if (request.names().isEmpty() && pollIn > 0) {
			await(0, this.parts.factory.poll(pollIn), free, false);
			return;
		}
		int changes = this.parts.policies.changes();
		Claimed claimed;
		try {
			claimed = this.parts.store.claim(request);
		}
		catch (RuntimeException ex) {
			this.loop.sleep(this.parts.availability.failed(Caller.CLAIM, ex));
			return;
		}
		accept(claimed, now, changes);
		learn(request, claimed);
		int tasks = claimed.tasks().size();
		boolean small = this.names.backlogs() > 0 && tasks < this.parts.settings.batchSize();
		await(small ? BACKLOG_REST_NANOS : REST_NANOS, waitNanos(request, claimed), free - tasks, claimed.more());
	}

	/**
	 * While tasks wait for room, ends wake the poller: enough of them in a backlog, a
	 * single one if tasks of a limited name wait for a place.
	 * @param free the room as if nothing had ended since the plan
	 */
	private void await(long restNanos, long nanos, int free, boolean more) {
		boolean backlog = this.names.backlogs() > 0;
		int ends = backlog ? this.names.enough() : 1;
		this.parts.held.wakeAtFree((more || backlog) ? free + ends : Integer.MAX_VALUE);
		this.loop.await(restNanos, this.names.hasRoomForBacklog() ? 0 : nanos);
	}

	private boolean isSuspectDue(long now) {
		return !this.parts.held.hasSuspect() && now - this.suspectAt >= 0;
	}

	private Duration lookAhead() {
		Duration setting = this.parts.settings.lookAhead();
		return (this.busy && setting.compareTo(BUSY_LOOK_AHEAD) > 0) ? BUSY_LOOK_AHEAD : setting;
	}

	private void accept(Claimed claimed, long sent, int changes) {
		this.ahead = this.clock.heard(claimed.now(), sent);
		this.parts.availability.succeeded(Caller.CLAIM);
		this.parts.claims.increment();
		this.parts.claimed.add(claimed.tasks().size());
		if (this.parts.policies.learn(claimed.pausedNames(), changes)) {
			this.settler.giveBack(this.parts.policies::isPaused);
		}
		long trustedUntil = sent + this.parts.settings.trustedNanos();
		claimed.tasks().forEach((task) -> this.beginner.accept(task, trustedUntil, this.ahead));
	}

	private void learn(ClaimRequest request, Claimed claimed) {
		this.claimedAt = this.parts.nanoTime();
		if (request.names().isEmpty()) {
			return;
		}
		this.lastWasSuspect = claimed.hasSuspect();
		if (!this.lastWasSuspect) {
			this.names.learn(request, claimed);
		}
		if (this.lastWasSuspect || claimed.newSuspects()) {
			this.suspectAt = this.claimedAt;
		}
		else if (request.suspect()) {
			this.suspectAt = this.claimedAt + this.pollNanos;
		}
		this.busy = !claimed.tasks().isEmpty();
	}

	/** Varies, so that not the same node takes all tasks that are due soon. */
	private long waitNanos(ClaimRequest request, Claimed claimed) {
		if (isSuspectDue(this.claimedAt)) {
			return 0;
		}
		long longest = this.busy
				? Math.min(this.pollNanos, (long) (BUSY_NANOS * ThreadLocalRandom.current().nextDouble(0.5, 1)))
				: this.pollNanos;
		// By the store's clock, which has gone on since the claim read it.
		long now = TimeUnit.NANOSECONDS.toMillis(this.claimedAt - this.ahead);
		long lookAhead = request.lookAhead().toMillis();
		long next = Math.max(Math.min(lookAhead, LOCKED_MILLIS), claimed.nextAt() - lookAhead - now);
		long millis = Math.min(next, Math.max(1, claimed.startAt() - now));
		return Math.min(this.parts.factory.poll(longest), TimeUnit.MILLISECONDS.toNanos(millis));
	}

}

package io.timingwheel.spring.durable.node;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import io.timingwheel.spring.durable.node.DurableNode.Figure;
import io.timingwheel.spring.durable.node.StoreAvailability.Caller;
import io.timingwheel.spring.durable.store.ClaimRequest;
import io.timingwheel.spring.durable.store.Claimed;
import io.timingwheel.spring.task.internal.Backoff;

/**
 * Claims tasks that are due soon, as long as the store has any and the node has room.
 * Otherwise it waits until the next task can be claimed, but no longer than the poll
 * interval. {@link Names} knows what a claim takes of each name.
 *
 * <p>
 * A claim for a suspect takes nothing else. The node has one suspect at a time, and the
 * other tasks wait for its end, but not long. Suspects and other tasks take turns.
 */
final class Poller {

	private static final Backoff BACKOFF = new Backoff(Duration.ofMillis(100), 2, Duration.ofSeconds(5), 0.2);

	/** The look-ahead while there are tasks: the earliest ones get the room. */
	private static final Duration BUSY_LOOK_AHEAD = Duration.ofMillis(300);

	/**
	 * The longest wait while there are tasks. Other nodes may store further ones, which
	 * are due before the next poll.
	 */
	private static final long BUSY_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

	/**
	 * The shortest wait for a task that is due within the look-ahead and was not claimed:
	 * another transaction has locked it.
	 */
	private static final Duration LOCKED = Duration.ofMillis(50);

	/** How long the ends of tasks gather in a backlog, so that no claim is tiny. */
	private static final long REST_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

	/**
	 * The same for the tasks that this node stores, and for the places of a limited name.
	 */
	private static final long SHORT_REST_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

	/** How long before its due time a task is claimed that this node has stored. */
	private static final long LEAD_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

	private static final long NEVER = Long.MAX_VALUE;

	private final NodeParts parts;

	private final Names names;

	private final Held held;

	private final Intake intake;

	private final StoreClock clock;

	private final NodeLoop loop;

	private final long pollNanos;

	/** When {@link #expect} makes the node claim. */
	private final AtomicLong wakeAt = new AtomicLong(NEVER);

	private int failures;

	/** Whether the last claim gave tasks. */
	private boolean busy;

	/** When the last claim has ended. */
	private long claimedAt;

	/** When the node asks for a suspect again. */
	private long suspectAt;

	private boolean lastWasSuspect;

	Poller(NodeParts parts, Names names, Held held, Intake intake) {
		this.parts = parts;
		this.names = names;
		this.held = held;
		this.intake = intake;
		this.clock = new StoreClock(parts::nanoTime);
		this.loop = parts.loops().loop("timing-wheel-poller", this::round);
		this.pollNanos = TimeUnit.NANOSECONDS.convert(parts.settings().pollInterval());
		this.suspectAt = parts.nanoTime();
		this.claimedAt = this.suspectAt - this.pollNanos;
	}

	NodeLoop loop() {
		return this.loop;
	}

	/**
	 * Makes the node claim a task in time that it has stored or moved itself. A task of a
	 * limited name cannot be claimed before it is due.
	 */
	void expect(long millis, boolean limited) {
		long nanos = TimeUnit.MILLISECONDS.toNanos(millis);
		if (nanos >= poll(this.pollNanos)) {
			return;
		}
		long lead = limited ? 0 : Math.min(LEAD_NANOS, this.parts.settings().lookAhead().toNanos());
		if (nanos <= lead) {
			this.loop.wake();
			return;
		}
		long time = this.parts.nanoTime() + nanos - lead;
		long earlier = this.wakeAt.getAndUpdate((at) -> (at == NEVER || time - at < 0) ? time : at);
		if (earlier != NEVER && earlier - time <= 0) {
			// The claim at that time sees this task.
			return;
		}
		boolean waits = this.parts.runLater(() -> {
			this.wakeAt.compareAndSet(time, NEVER);
			this.loop.wake();
		}, nanos - lead);
		if (!waits) {
			// The wheel is full. The next poll finds the task.
			this.wakeAt.compareAndSet(time, NEVER);
		}
	}

	private void round() {
		if (!this.held.isOpen()) {
			// A claim that was under way when the node was paused may have failed.
			this.parts.availability().idle(Caller.CLAIM);
			this.loop.await(poll(this.pollNanos));
			return;
		}
		long blocked = this.held.blockedNanos();
		if (blocked > 0) {
			this.loop.await(blocked);
			return;
		}
		long now = this.parts.nanoTime();
		boolean suspect = !this.lastWasSuspect && isSuspectDue(now);
		Duration lookAhead = lookAhead();
		ClaimRequest request = this.names.plan(this.held.free(), suspect, lookAhead);
		long pollIn = this.pollNanos - (now - this.claimedAt);
		if (request.names().isEmpty() && pollIn > 0) {
			boolean full = expect(this.held.ends());
			this.loop.await(poll(full ? Math.min(pollIn, BUSY_NANOS) : pollIn));
			return;
		}
		long ends = this.held.ends();
		Claimed claimed;
		try {
			claimed = claim(request);
		}
		catch (RuntimeException ex) {
			this.failures++;
			this.parts.availability().failed(Caller.CLAIM, ex);
			this.loop.sleep(BACKOFF.after(this.failures).toNanos());
			return;
		}
		learn(request, claimed);
		expect(ends);
		this.loop.await(restNanos(claimed), waitNanos(claimed, lookAhead));
	}

	private long restNanos(Claimed claimed) {
		if (claimed.tasks().size() >= this.parts.settings().batchSize()) {
			return 0;
		}
		return (claimed.more() && !this.names.waitForSingleEnds()) ? REST_NANOS : SHORT_REST_NANOS;
	}

	/**
	 * Has the starts and ends of tasks wake this node, if the store may have tasks for
	 * their room.
	 * @param ends how many tasks had left the node before the claim
	 * @return whether the store may have such tasks
	 */
	private boolean expect(long ends) {
		long end = ends + this.names.endsToWaitFor(this.held.free());
		boolean starts = this.names.waitForStarts();
		this.held.expect(end, starts);
		if (this.held.ends() >= end || (starts && !this.names.waitForStarts())) {
			this.loop.wake();
		}
		return this.names.mayHaveMore();
	}

	private boolean isSuspectDue(long now) {
		return !this.held.hasSuspect() && now - this.suspectAt >= 0;
	}

	private Duration lookAhead() {
		Duration setting = this.parts.settings().lookAhead();
		return (this.busy && setting.compareTo(BUSY_LOOK_AHEAD) > 0) ? BUSY_LOOK_AHEAD : setting;
	}

	private Claimed claim(ClaimRequest request) {
		int changes = this.names.policies().changes();
		long sent = this.parts.nanoTime();
		Claimed claimed = this.parts.store().claim(request);
		long ahead = this.clock.heard(claimed.now(), sent);
		this.parts.availability().succeeded(Caller.CLAIM);
		this.failures = 0;
		this.parts.count(Figure.CLAIMS, 1);
		this.parts.count(Figure.CLAIMED, claimed.tasks().size());
		Set<String> paused = this.names.policies().learn(claimed.pausedNames(), changes);
		if (!paused.isEmpty()) {
			this.intake.giveBack(paused::contains);
		}
		LeaseKeeper.Term term = new LeaseKeeper.Term(sent, request.lease().toNanos());
		claimed.tasks().forEach((task) -> this.intake.accept(task, term, ahead));
		return claimed;
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
		if (request.suspect()) {
			this.suspectAt = this.lastWasSuspect ? this.claimedAt : this.claimedAt + this.pollNanos;
		}
		if (claimed.newSuspects()) {
			this.suspectAt = this.claimedAt;
		}
		this.busy = !claimed.tasks().isEmpty();
	}

	/**
	 * How long to wait before the next claim. The time varies after a claim with tasks,
	 * so that not all nodes claim at the same time. Otherwise the first node would take
	 * all tasks that are due soon.
	 */
	private long waitNanos(Claimed claimed, Duration lookAhead) {
		if (this.names.hasRoomForMore(this.held.free()) || isSuspectDue(this.claimedAt)) {
			return 0;
		}
		long longest = this.busy
				? Math.min(this.pollNanos, (long) (BUSY_NANOS * ThreadLocalRandom.current().nextDouble(0.5, 1)))
				: this.pollNanos;
		Duration shortest = (lookAhead.compareTo(LOCKED) < 0) ? lookAhead : LOCKED;
		long next = Math.max(shortest.toMillis(), claimed.nextAt() - lookAhead.toMillis() - claimed.now());
		long millis = Math.min(next, Math.max(1, claimed.startAt() - claimed.now()));
		return Math.min(poll(longest), TimeUnit.MILLISECONDS.toNanos(millis));
	}

	/**
	 * How long to wait for what others do to the store.
	 */
	private long poll(long nanos) {
		return this.parts.loops().polls() ? nanos : Long.MAX_VALUE;
	}

}

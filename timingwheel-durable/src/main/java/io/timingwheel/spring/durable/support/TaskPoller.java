package io.timingwheel.spring.durable.support;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

import io.timingwheel.spring.durable.ClaimRequest.Limit;
import io.timingwheel.spring.durable.ClaimRequest;
import io.timingwheel.spring.durable.Claimed;
import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.LeasedTask;
import io.timingwheel.spring.durable.StartLimits;
import io.timingwheel.spring.durable.support.StoreAvailability.Caller;
import io.timingwheel.spring.task.internal.Backoff;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Claims tasks that are due soon, as long as the store has any and the node has room.
 * Otherwise the poller sleeps until the next task is due within the look-ahead, but no
 * longer than the poll interval. Of each name the poller takes only a share of the room.
 * Of the tasks that are due already, it takes only those that can start soon.
 *
 * <p>
 * The poller claims a suspect alone, and only while the node has no other suspect. The
 * next claim waits until the suspect has ended, but not long. Suspects and other tasks
 * take turns.
 */
final class TaskPoller {

	private static final Log logger = LogFactory.getLog(TaskPoller.class);

	private static final Backoff BACKOFF = new Backoff(Duration.ofMillis(100), 2, Duration.ofSeconds(5), 0.2);

	/**
	 * The shortest sleep. If a task is due soon and was not claimed, another node has
	 * leased or locked it, and the poller does not ask for it all the time.
	 */
	private static final long MIN_SLEEP_MILLIS = 50;

	/**
	 * What a claim costs: as much as if all places of the node stood idle for this time.
	 */
	private static final long CLAIM_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

	/** How long the other tasks wait for a suspect. */
	private static final long SUSPECT_NANOS = TimeUnit.SECONDS.toNanos(1);

	private final NodeTurns turns;

	private final DelayedTaskStore store;

	private final DurableSettings settings;

	private final DurableHandlerRegistry handlers;

	private final StoreClock clock;

	private final InFlight inFlight;

	private final Lanes lanes;

	private final TaskIntake intake;

	private final PausedNames pausedNames;

	private final UnreadableTasks unreadable;

	private final NodeFigures figures;

	private final StoreAvailability availability;

	private final NodeReports reports;

	private final StoreLoop loop;

	private final ClaimSize size;

	private final LookAhead lookAhead;

	/** When the last claim has ended. */
	private long claimedAt;

	private int failures;

	/** When the node asks for a suspect again, if the last request has found none. */
	private long suspectAt;

	/** Whether the last request for a suspect has found one. */
	private boolean moreSuspects;

	/** Whether the last claim gave a suspect. The next claim is for other tasks. */
	private boolean suspectClaimed;

	/** How long the other tasks wait for the suspect of the last claim. */
	private long waitUntil;

	private volatile boolean paused;

	TaskPoller(NodeTurns turns, DelayedTaskStore store, DurableSettings settings, DurableHandlerRegistry handlers,
			StoreClock clock, InFlight inFlight, Lanes lanes, TaskIntake intake, LookAhead lookAhead,
			PausedNames pausedNames, UnreadableTasks unreadable, NodeFigures figures, StoreAvailability availability,
			NodeReports reports) {
		this.turns = turns;
		this.loop = turns.loop("timing-wheel-poller", this::round);
		this.suspectAt = turns.nanoTime();
		this.waitUntil = this.suspectAt;
		this.claimedAt = this.suspectAt;
		this.store = store;
		this.settings = settings;
		this.handlers = handlers;
		this.clock = clock;
		this.inFlight = inFlight;
		this.lanes = lanes;
		this.intake = intake;
		this.pausedNames = pausedNames;
		this.unreadable = unreadable;
		this.figures = figures;
		this.availability = availability;
		this.reports = reports;
		this.size = new ClaimSize(settings);
		this.lookAhead = lookAhead;
		inFlight.onSuspectGone(this.loop::wake);
	}

	void start() {
		this.loop.start();
	}

	/**
	 * Ends the claims for good. The node gives back what a claim under way returns.
	 */
	void stop() {
		this.loop.stop();
	}

	void join(Duration period) throws InterruptedException {
		this.loop.join(period);
	}

	boolean isActive() {
		return !this.paused && !this.loop.isStopped();
	}

	/**
	 * Ends the claims until {@link #resume()}.
	 */
	void pause() {
		this.paused = true;
	}

	void resume() {
		this.paused = false;
		wake();
	}

	/**
	 * Makes the poller claim again, if it waits for room.
	 */
	void wake() {
		this.loop.wake();
	}

	/**
	 * The room that a claim needs, a moment after the last claim.
	 */
	private int usualRoom() {
		return Math.max(1, Math.min(this.size.next(), this.settings.maxInFlight() / 4));
	}

	private void round() {
		long wait = this.waitUntil - this.turns.nanoTime();
		if (wait > 0 && this.inFlight.hasSuspect()) {
			this.loop.await(wait);
			return;
		}
		if (this.inFlight.refusalNanos() > 0) {
			this.loop.sleep(this.inFlight.refusalNanos());
			return;
		}
		boolean claims = !this.paused && !this.handlers.names().isEmpty();
		int room = claims ? this.inFlight.reserve(minRoom(), this.size.next()) : 0;
		if (!claims) {
			// A claim that was under way when the poller was paused may have failed.
			this.availability.idle(Caller.CLAIM);
		}
		if (room == 0) {
			if (claims) {
				tryGiveBackPaused();
			}
			this.reports.report(isActive());
			awaitRoom(claims);
			return;
		}
		boolean suspect = isSuspectNext();
		int free = this.inFlight.free() + room;
		int used = 0;
		long sleepNanos = this.turns.idleNanos(this.settings.pollInterval().toNanos());
		try {
			giveBackPaused();
			Map<String, Limit> limits = this.lanes.limits(room, this.size.usual(), suspect);
			if (!limits.isEmpty()) {
				Duration lookAhead = this.lookAhead.current();
				Claimed claimed = claim(limits, room, suspect, lookAhead);
				used = claimed.tasks().size();
				boolean more = this.lanes.mayHaveMore(limits, claimed.tasks()) || used == room;
				boolean suspects = this.moreSuspects && !this.inFlight.hasSuspect();
				sleepNanos = (more || suspects) ? minSleepNanos(claimed) : sleepNanos(claimed, lookAhead);
			}
		}
		catch (RuntimeException ex) {
			this.failures++;
			this.availability.failed(Caller.CLAIM, ex);
			this.loop.sleep(BACKOFF.after(this.failures).toNanos());
			return;
		}
		finally {
			this.inFlight.free(room - used);
			this.claimedAt = this.turns.nanoTime();
		}
		expectRoom(free - used);
		this.reports.report(isActive());
		if (this.suspectClaimed && used > 0) {
			// The suspect gets no new neighbours until it has ended, but not for long.
			this.waitUntil = this.turns.nanoTime() + SUSPECT_NANOS;
		}
		else {
			this.loop.await(sleepNanos);
		}
	}

	/**
	 * Gives back the tasks of names that were paused.
	 */
	private void giveBackPaused() {
		this.intake.giveBackWaiting(this.pausedNames.read());
	}

	private void tryGiveBackPaused() {
		try {
			giveBackPaused();
		}
		catch (RuntimeException ex) {
			logger.debug("The paused names could not be read; the next round reads them", ex);
		}
	}

	private boolean isSuspectNext() {
		return !this.suspectClaimed && !this.inFlight.hasSuspect()
				&& (this.moreSuspects || this.turns.nanoTime() - this.suspectAt >= 0);
	}

	/**
	 * After a claim with a short name, claims again when tasks have ended: as many as
	 * half of those that the node holds of this name, since the tasks of other names may
	 * last for long. A claim for each task that ends would cost too much.
	 * @param free how much room the claim has left, without the tasks that have ended
	 * since it began
	 */
	private void expectRoom(int free) {
		this.lanes.leastHeldOfShortNames().ifPresent((held) -> {
			int ended = Math.max(1, Math.min(usualRoom(), held / 2));
			if (!this.inFlight.expect(free + ended, this.loop::wake)) {
				this.loop.wake();
			}
		});
	}

	/**
	 * The room that a claim needs now. One claim of many tasks costs less than many
	 * claims of few, so the node waits while its tasks make room for many. The longer the
	 * node has waited, the less room is enough, since its other tasks may last for long.
	 */
	private int minRoom() {
		long waited = waitedNanos();
		if (waited >= TimeUnit.MILLISECONDS.toNanos(maxSleepMillis())) {
			return 1;
		}
		return (int) Math.max(1, Math.min(usualRoom(), idleNanos() / Math.max(1, waited)));
	}

	private long maxSleepMillis() {
		return this.lookAhead.maxSleepMillis(this.settings.pollInterval().toMillis());
	}

	private long waitedNanos() {
		return this.turns.nanoTime() - this.claimedAt;
	}

	/**
	 * How long one place may be idle to save a claim. Two places may be idle half as
	 * long.
	 */
	private long idleNanos() {
		return this.settings.maxInFlight() * CLAIM_NANOS;
	}

	/**
	 * Waits until there is enough room for a claim. More room makes the wait shorter, so
	 * the loop looks again when there is twice as much.
	 */
	private void awaitRoom(boolean claims) {
		int free = this.inFlight.free();
		if (!claims || this.inFlight.expect(Math.min(usualRoom(), Math.max(1, 2 * free)), this.loop::wake)) {
			long nanos = claims ? TimeUnit.MILLISECONDS.toNanos(maxSleepMillis())
					: this.settings.pollInterval().toNanos();
			if (claims && free > 0) {
				nanos = Math.min(nanos, idleNanos() / free + 1) - waitedNanos();
			}
			this.loop.await(this.turns.idleNanos(nanos));
		}
	}

	private Claimed claim(Map<String, Limit> limits, int room, boolean suspect, Duration lookAhead) {
		LeaseTerm term = LeaseTerm.of(this.turns, this.settings.lease());
		long sent = this.clock.wheelNanos();
		long start = this.turns.nanoTime();
		Map<String, StartLimits> startLimits = this.lanes.startLimits(limits.keySet());
		Claimed claimed = this.store.claim(new ClaimRequest(this.settings.nodeId(), limits, room, suspect, lookAhead,
				this.settings.lease(), this.settings.maxPayloadBytes(), startLimits,
				Duration.ofNanos(this.turns.idleNanos(this.settings.pollInterval().toNanos())),
				this.lanes.expireAfter(startLimits.keySet())));
		this.lanes.heldInStore(startLimits.keySet(), claimed.heldBack());
		this.availability.succeeded(Caller.CLAIM);
		this.failures = 0;
		long nanos = this.turns.nanoTime() - start;
		this.figures.addClaim(claimed.tasks().size());
		long ahead = this.clock.heard(claimed.now(), sent);
		claimed.tasks().forEach((task) -> this.intake.accept(task, term, ahead));
		this.suspectClaimed = claimed.tasks().stream().anyMatch(LeasedTask::suspect);
		if (!this.suspectClaimed) {
			this.size.claimed(room, limits, claimed, nanos);
			int free = this.inFlight.free() + room - claimed.tasks().size();
			this.lookAhead.claimed(claimed, free, this.inFlight::waiting, this.turns.nanoTime());
		}
		if (suspect) {
			this.moreSuspects = this.suspectClaimed;
			this.suspectAt = this.turns.nanoTime() + this.settings.pollInterval().toNanos();
		}
		if (claimed.nextAt() <= claimed.now()) {
			// The claim has found a new suspect.
			this.suspectAt = this.turns.nanoTime();
		}
		return claimed;
	}

	/**
	 * How long to sleep before a claim of more tasks. Other nodes get some time for the
	 * tasks that this node leaves to them.
	 */
	private long minSleepNanos(Claimed claimed) {
		boolean left = claimed.tasks().stream().anyMatch((task) -> this.unreadable.isLeft(task.id(), task.begun()));
		return left ? TimeUnit.MILLISECONDS.toNanos(MIN_SLEEP_MILLIS) : 0;
	}

	/**
	 * How long to sleep after a claim that left room. The time varies after a claim with
	 * tasks, so that not all nodes claim at the same time. Otherwise the first node would
	 * take all tasks that are due soon.
	 */
	private long sleepNanos(Claimed claimed, Duration lookAhead) {
		if (this.turns.isVirtual()) {
			return virtualSleepNanos(claimed);
		}
		return Math.min(unlimitedSleepNanos(claimed, lookAhead), startNanos(claimed));
	}

	/**
	 * How long to sleep until a task of a limited name may start.
	 */
	private static long startNanos(Claimed claimed) {
		return TimeUnit.MILLISECONDS.toNanos(Math.max(1, claimed.startAt() - claimed.now()));
	}

	private long unlimitedSleepNanos(Claimed claimed, Duration lookAhead) {
		long millis = sleepMillis(claimed, maxSleepMillis(), lookAhead.toMillis());
		double share = claimed.tasks().isEmpty() ? 1 : 1 - ThreadLocalRandom.current().nextDouble() / 2;
		return (long) (TimeUnit.MILLISECONDS.toNanos(millis) * share);
	}

	/**
	 * How long to sleep until the store has more tasks. After a claim with tasks, the
	 * sleep is short: nodes that only store tasks may store further ones, which are due
	 * before the next poll. If the next task is due within the look-ahead and was not
	 * claimed, the sleep ends when the task is due. Another node need not have that task:
	 * the clock of its part of the store may be behind.
	 */
	static long sleepMillis(Claimed claimed, long interval, long lookAhead) {
		long longest = claimed.tasks().isEmpty() ? interval : Math.min(interval, Claimed.MAX_PAUSE_MILLIS);
		long claimableAt = claimed.nextAt() - lookAhead;
		long next = ((claimableAt > claimed.now()) ? claimableAt : claimed.nextAt()) - claimed.now();
		return Math.min(longest, Math.max(MIN_SLEEP_MILLIS, next));
	}

	/**
	 * Sleeps until the next task is due, without a limit. If a task is due and was not
	 * claimed, another transaction has locked the task, or the claim has made it a
	 * suspect.
	 */
	private long virtualSleepNanos(Claimed claimed) {
		long next = Math.min(claimed.nextAt(), claimed.startAt());
		if (next == Long.MAX_VALUE) {
			return this.turns.idleNanos(0);
		}
		long millis = next - claimed.now();
		return (millis > 0) ? TimeUnit.MILLISECONDS.toNanos(millis)
				: isSuspectNext() ? 0 : TimeUnit.MILLISECONDS.toNanos(1);
	}

}

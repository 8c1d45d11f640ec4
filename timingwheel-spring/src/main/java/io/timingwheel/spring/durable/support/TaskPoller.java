package io.timingwheel.spring.durable.support;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

import io.timingwheel.spring.durable.Claimed;
import io.timingwheel.spring.durable.ClaimRequest;
import io.timingwheel.spring.durable.support.StoreAvailability.Caller;

/**
 * Claims the tasks that are due soon, for as long as there are any and there is room.
 * Otherwise it sleeps until the next one comes into sight, at most for the poll interval.
 */
final class TaskPoller {

	private static final Backoff BACKOFF = new Backoff(Duration.ofMillis(100), 2, Duration.ofSeconds(5), 0.2);

	/** What is in sight and cannot be claimed is leased or locked by others. */
	private static final long MIN_SLEEP_MILLIS = 50;

	private final DurableNode node;

	private final InFlight inFlight;

	private final Signal signal;

	private final StoreThread thread;

	private final int usualRoom;

	/** Not one by one when the node is full, unless that lasts. */
	private int minRoom;

	private long waitedNanos;

	private volatile boolean paused;

	private int failures;

	/**
	 * Creates a poller, to be started.
	 * @param node the node
	 * @param inFlight what the node holds
	 * @param signal raised when there is the room that was expected
	 */
	TaskPoller(DurableNode node, InFlight inFlight, Signal signal) {
		this.node = node;
		this.inFlight = inFlight;
		this.signal = signal;
		this.thread = new StoreThread("timing-wheel-poller", this::round, signal);
		DurableSettings settings = node.settings();
		this.usualRoom = Math.max(1, Math.min(settings.batchSize(), settings.maxInFlight() / 4));
		this.minRoom = this.usualRoom;
	}

	void start() {
		this.thread.start();
	}

	/**
	 * Ends the claims. One that is under way still counts.
	 */
	void stop() {
		this.thread.stop();
	}

	void join(Duration period) throws InterruptedException {
		this.thread.join(period);
	}

	boolean isActive() {
		return !this.paused && !this.thread.isStopped();
	}

	/**
	 * Ends the claims for the time being.
	 */
	void pause() {
		this.paused = true;
	}

	void resume() {
		this.paused = false;
		this.signal.raise();
	}

	private void round() {
		Set<String> names = this.node.handlers().names();
		boolean claims = !this.paused && !names.isEmpty();
		int room = claims ? this.inFlight.reserve(this.minRoom, this.node.settings().batchSize()) : 0;
		if (!claims) {
			// Also after a claim that was under way when they were paused.
			this.node.availability().idle(Caller.CLAIM);
		}
		if (room == 0) {
			awaitRoom(claims);
			return;
		}
		this.minRoom = this.usualRoom;
		this.waitedNanos = 0;
		int used = 0;
		long sleepNanos;
		try {
			Answer claimed = claim(names, room);
			used = claimed.claim().tasks().size();
			accept(claimed);
			sleepNanos = (used == room) ? 0 : sleepNanos(claimed.claim());
		}
		catch (RuntimeException ex) {
			this.failures = Math.min(this.failures + 1, 30);
			this.node.availability().failed(Caller.CLAIM, ex);
			sleepNanos = BACKOFF.after(this.failures).toNanos();
		}
		finally {
			this.inFlight.free(room - used);
		}
		sleep(sleepNanos);
	}

	/**
	 * Waits for room for a batch; when none has come up, for any.
	 */
	private void awaitRoom(boolean claims) {
		long start = System.nanoTime();
		long interval = this.node.settings().pollInterval().toNanos();
		if (!claims || this.inFlight.expect(this.minRoom)) {
			this.signal.await(interval);
		}
		this.waitedNanos += System.nanoTime() - start;
		this.minRoom = (this.waitedNanos >= interval) ? 1 : this.usualRoom;
	}

	private void accept(Answer claimed) {
		Claimed claim = claimed.claim();
		claim.tasks().forEach((task) -> this.node.accept(task, claimed.term(), claimed.ahead()));
		if (this.paused) {
			this.node.releaseWaiting();
		}
	}

	private Answer claim(Set<String> names, int limit) {
		DurableSettings settings = this.node.settings();
		LeaseTerm term = LeaseTerm.of(settings.lease());
		long sent = this.node.wheelNanos();
		Claimed claim = this.node.store()
			.claim(new ClaimRequest(settings.nodeId(), names, limit, settings.lookAhead(), settings.lease(),
					settings.maxPayloadBytes()));
		long ahead = this.node.heard(claim.now(), sent);
		this.node.availability().succeeded(Caller.CLAIM);
		this.failures = 0;
		this.node.figures().addClaim(claim.tasks().size());
		return new Answer(claim, term, ahead);
	}

	/**
	 * Not all nodes at the same time, as the first one takes all that has come into
	 * sight.
	 */
	private long sleepNanos(Claimed claim) {
		DurableSettings settings = this.node.settings();
		long interval = settings.pollInterval().toMillis();
		long inSight = claim.nextAt() - settings.lookAhead().toMillis();
		long next = ((inSight > claim.now()) ? inSight : claim.nextAt()) - claim.now();
		long millis = Math.min(interval, Math.max(Math.min(MIN_SLEEP_MILLIS, interval), next));
		double share = claim.tasks().isEmpty() ? 1 : 1 - ThreadLocalRandom.current().nextDouble() / 2;
		return (long) (TimeUnit.MILLISECONDS.toNanos(millis) * share);
	}

	/**
	 * Sleeps, also when room comes up meanwhile: nothing is in sight.
	 */
	private void sleep(long nanos) {
		long end = System.nanoTime() + nanos;
		for (long left = nanos; left > 0 && !this.thread.isStopped(); left = end - System.nanoTime()) {
			this.signal.await(left);
		}
	}

	/**
	 * An answer of the store.
	 *
	 * @param claim the answer
	 * @param term the lease of what has begun with it
	 * @param ahead by how many nanoseconds the wheel's clock is ahead of the engine's
	 */
	private record Answer(Claimed claim, LeaseTerm term, long ahead) {

	}

}

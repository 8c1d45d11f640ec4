package io.timingwheel.spring.durable.redis;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;

import io.timingwheel.spring.durable.StartLimits;

/**
 * How late a task of a name may begin after the rate has allowed the start. One request
 * takes the start, and one of the next two requests begins the task. If the node or Redis
 * stalls between them, the task begins beside the tasks whose starts the rate allows by
 * then. A task may be late by the part of a tenth of a second that a burst leaves, so
 * that no second has over a tenth more starts than the rate, rounded up. After that the
 * start is lost.
 *
 * <p>
 * In a slow network all requests may take longer, and the clocks of two servers of a
 * Cluster may differ by more, each name in its own way. If each request of the last
 * claims took longer, the two requests of the next claim may take twice the shortest of
 * these times. A further name begins with the times of the name that had the last claim.
 * Thread-safe.
 */
final class StartDelays {

	private static final int LAST_CLAIMS = 8;

	/** After so many requests a claim usually has its tasks. */
	private static final int REQUESTS = 2;

	private static final long TENTH_OF_A_SECOND = TimeUnit.MILLISECONDS.toMicros(100);

	/** How long each request of the last claims took, in ms. */
	private final long[] last = new long[LAST_CLAIMS];

	private int next;

	/**
	 * A copy, for another name.
	 */
	synchronized StartDelays copy() {
		StartDelays copy = new StartDelays();
		System.arraycopy(this.last, 0, copy.last, 0, LAST_CLAIMS);
		copy.next = this.next;
		return copy;
	}

	/**
	 * Adds a claim that took starts of the rate.
	 * @param millis the time between the clock when the claim took the starts, and the
	 * latest clock of a partition that was asked to begin tasks
	 * @param requests how many times the claim asked partitions to begin tasks. A
	 * difference of the clocks counts for one request, so more than two do not count
	 */
	synchronized void add(long millis, int requests) {
		this.last[this.next] = -Math.floorDiv(-millis, Math.min(REQUESTS, requests));
		this.next = (this.next + 1) % LAST_CLAIMS;
	}

	/**
	 * The last time at which tasks may begin.
	 * @param limits the limits of the name, with a rate
	 * @param takenAt when the starts were taken, in milliseconds since the epoch
	 * @return milliseconds since the epoch
	 */
	synchronized long lastStart(StartLimits limits, long takenAt) {
		long interval = limits.intervalMicros();
		// With less than five starts a second, a tenth of a second has none to spare.
		long micros = Math.max(interval * limits.burst() / 2, TENTH_OF_A_SECOND - interval * (limits.burst() - 1));
		return takenAt + Math.max(TimeUnit.MICROSECONDS.toMillis(micros),
				2 * REQUESTS * Arrays.stream(this.last).min().orElse(0));
	}

}

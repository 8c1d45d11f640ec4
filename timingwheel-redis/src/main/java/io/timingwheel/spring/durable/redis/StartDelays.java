package io.timingwheel.spring.durable.redis;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;

import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.StartLimits;

/**
 * How late a task may begin after the rate of its name has allowed the start. One request
 * takes the start, and the next request begins the task. If the node or Redis stalls
 * between the two, the task begins beside the tasks whose starts the rate allows by then.
 * So a task may begin for half of the time of a burst. After that the start is lost.
 *
 * <p>
 * In a slow network all requests may take longer, and the clocks of two servers of a
 * Cluster may differ by more. If each of the last claims took longer, the next claim may
 * take twice the shortest of these times. Thread-safe.
 */
final class StartDelays {

	private static final int LAST_CLAIMS = 8;

	/** How long the last claims took from the first request to the last, in ms. */
	private final long[] last = new long[LAST_CLAIMS];

	private int next;

	/**
	 * Adds a claim that took starts of a rate.
	 * @param millis the time between the clock when the claim took the starts, and the
	 * latest clock of a partition that was asked to begin tasks
	 */
	synchronized void add(long millis) {
		this.last[this.next] = millis;
		this.next = (this.next + 1) % LAST_CLAIMS;
	}

	/**
	 * The last time at which tasks may begin.
	 * @param limits the limits of the name
	 * @param takenAt when the starts were taken, in milliseconds since the epoch
	 * @return milliseconds since the epoch, {@link DelayedTaskStore#MAX_TIME} if there is
	 * no rate
	 */
	synchronized long lastStart(StartLimits limits, long takenAt) {
		if (limits.intervalMicros() == 0) {
			return DelayedTaskStore.MAX_TIME;
		}
		long half = TimeUnit.MICROSECONDS.toMillis(limits.burst() * limits.intervalMicros() / 2);
		return takenAt + Math.max(half, 2 * Arrays.stream(this.last).min().orElse(0));
	}

}

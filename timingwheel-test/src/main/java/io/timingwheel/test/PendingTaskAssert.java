package io.timingwheel.test;

import java.time.Duration;
import java.time.Instant;

import org.assertj.core.api.AbstractAssert;

/**
 * Assertions on a pending task.
 *
 * @since 0.1
 */
public final class PendingTaskAssert extends AbstractAssert<PendingTaskAssert, PendingTask> {

	private static final Duration MILLI = Duration.ofMillis(1);

	private final String description;

	private final VirtualTime time;

	PendingTaskAssert(PendingTask actual, String description, VirtualTime time) {
		super(actual, PendingTaskAssert.class);
		this.description = description;
		this.time = time;
	}

	/**
	 * Verifies how long it takes from now until the task is due. Durable tasks are due at
	 * full milliseconds.
	 */
	public PendingTaskAssert dueIn(Duration delay) {
		Instant now = this.time.now();
		Duration left = Duration.between(now, this.actual.dueAt());
		Duration later = delay.minus(left);
		boolean rounded = this.actual.durable() && !later.isNegative() && later.compareTo(MILLI) < 0;
		if (!later.isZero() && !rounded) {
			throw failureWithActualExpected(left, delay, "expected %s to be due in %s, but it %s; %s", this.description,
					Descriptions.print(delay), Descriptions.due(this.actual.dueAt(), now),
					Descriptions.pending(this.time, this.actual.name()));
		}
		return this;
	}

}

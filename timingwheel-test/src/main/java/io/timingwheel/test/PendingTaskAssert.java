package io.timingwheel.test;

import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

import org.assertj.core.api.AbstractAssert;

/**
 * Assertions on a pending task.
 *
 * @since 0.1
 */
public final class PendingTaskAssert extends AbstractAssert<PendingTaskAssert, PendingTask> {

	private final String description;

	private final VirtualTime time;

	PendingTaskAssert(PendingTask actual, String description, VirtualTime time) {
		super(actual, PendingTaskAssert.class);
		this.description = description;
		this.time = time;
	}

	/**
	 * Verifies how long it takes until the task is due. Durable tasks are due at full
	 * milliseconds.
	 * @param delay the time from now
	 * @return this object
	 */
	public PendingTaskAssert dueIn(Duration delay) {
		Instant now = this.time.now();
		if (!isDueAt(after(now, delay))) {
			throw failureWithActualExpected(Duration.between(now, this.actual.dueAt()), delay,
					"expected %s to be due in %s, but it %s; %s", this.description, PendingTasks.print(delay),
					PendingTasks.due(this.actual.dueAt(), now), describePending(now));
		}
		return this;
	}

	/**
	 * Verifies when the task is due. Durable tasks are due at full milliseconds.
	 * @param instant the time
	 * @return this object
	 */
	public PendingTaskAssert dueAt(Instant instant) {
		if (!isDueAt(instant)) {
			throw failureWithActualExpected(this.actual.dueAt(), instant,
					"expected %s to be due at %s, but it is due at %s; %s", this.description, instant,
					this.actual.dueAt(), describePending(this.time.now()));
		}
		return this;
	}

	/**
	 * The time after a delay, or the end of all times.
	 */
	private static Instant after(Instant now, Duration delay) {
		try {
			return now.plus(delay);
		}
		catch (ArithmeticException | DateTimeException ex) {
			return delay.isNegative() ? Instant.MIN : Instant.MAX;
		}
	}

	private String describePending(Instant now) {
		return PendingTasks.describe(this.time.tasks(), this.actual.name(), now);
	}

	private boolean isDueAt(Instant instant) {
		return this.actual.dueAt().equals(this.actual.durable() ? instant.truncatedTo(ChronoUnit.MILLIS) : instant);
	}

	/**
	 * Verifies that the task is in the store.
	 * @return this object
	 */
	public PendingTaskAssert isDurable() {
		if (!this.actual.durable()) {
			throw failure("expected %s to be in the store, but it is in memory", this.description);
		}
		return this;
	}

	/**
	 * Verifies that the task is in memory.
	 * @return this object
	 */
	public PendingTaskAssert isInMemory() {
		if (this.actual.durable()) {
			throw failure("expected %s to be in memory, but it is in the store", this.description);
		}
		return this;
	}

}

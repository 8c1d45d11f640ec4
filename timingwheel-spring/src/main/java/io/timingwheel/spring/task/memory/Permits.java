package io.timingwheel.spring.task.memory;

import java.util.HashMap;
import java.util.Map;

import io.timingwheel.spring.task.internal.PolicySettings;
import io.timingwheel.spring.task.internal.StartRate;
import org.jspecify.annotations.Nullable;

/**
 * Counts the permits that were taken under one set of limits. Other limits begin with new
 * counts.
 *
 * <pre>
 *                                       taken  of its key  reserved  next start
 * a task may start: tryTake              +1       +1         +1
 * its body begins: useStart                                  -1      later by the interval
 * its body has ended: giveBack           -1       -1
 * it leaves before its body: giveBack    -1       -1         -1
 * </pre>
 *
 * The lock of the gate guards all fields.
 */
final class Permits {

	private final @Nullable Integer max;

	private final @Nullable Integer maxPerKey;

	private final @Nullable StartRate rate;

	private int taken;

	private final Map<Object, Integer> takenByKey = new HashMap<>();

	/**
	 * How many permits reserve a start of the rate, since their bodies have not begun.
	 */
	private int reserved;

	/** When the next start is due if the starts are spread evenly. */
	private long nextStart;

	Permits(PolicySettings limits, long now) {
		this.max = limits.maxConcurrent();
		this.maxPerKey = limits.maxConcurrentPerKey();
		this.rate = limits.rate();
		this.nextStart = now;
	}

	boolean countsStarts() {
		return this.rate != null;
	}

	boolean isKeyFree(Object slot) {
		return this.maxPerKey == null || this.takenByKey.getOrDefault(slot, 0) < this.maxPerKey;
	}

	boolean tryTake(Object slot, long now) {
		if (!isKeyFree(slot) || (this.rate != null && this.rate.startsAllowed(this.nextStart, now) <= this.reserved)
				|| (this.max != null && this.taken >= this.max)) {
			return false;
		}
		this.taken++;
		if (this.rate != null) {
			this.reserved++;
		}
		if (this.maxPerKey != null) {
			this.takenByKey.merge(slot, 1, Integer::sum);
		}
		return true;
	}

	/**
	 * When the rate allows the next start; {@code null} if no time brings it: there is no
	 * rate, or tasks that have not begun reserve all starts.
	 */
	@Nullable Long nextStart() {
		return (this.rate != null && this.reserved < this.rate.burst())
				? this.rate.allowedFrom(this.nextStart, this.reserved + 1) : null;
	}

	void useStart(long now) {
		if (this.rate != null) {
			this.reserved--;
			this.nextStart = this.rate.nextStart(this.nextStart, now);
		}
	}

	void giveBack(Object slot, boolean reserves) {
		this.taken--;
		if (this.rate != null && reserves) {
			this.reserved--;
		}
		if (this.maxPerKey != null) {
			this.takenByKey.computeIfPresent(slot, (key, taken) -> (taken > 1) ? taken - 1 : null);
		}
	}

}

package io.timingwheel.spring.task.support;

import java.util.HashMap;
import java.util.Map;

import io.timingwheel.spring.task.internal.PolicySettings;
import io.timingwheel.spring.task.internal.StartRate;
import org.jspecify.annotations.Nullable;

/**
 * The permits of the tasks of one name: how many bodies may run at once, in all and of
 * one key, and when the rate allows the next start (by the generic cell rate algorithm).
 * Each permit that is taken also reserves one start of the rate, until the body begins.
 * An executor that is slow to begin therefore cannot gather starts.
 *
 * <p>
 * Time is a parameter, in nanoseconds. The lock of the {@link StartGate} guards an
 * instance and its permits.
 */
final class StartPermits {

	private PolicySettings limits;

	/** How many permits are taken. */
	private int held;

	/** How many permits of a key are taken, if the key is limited. */
	private final Map<Object, Integer> heldByKey = new HashMap<>();

	/** How many of the taken permits belong to tasks that have not begun. */
	private int reserved;

	/** When the next start is due if the starts are spread evenly. */
	private long nextStartNanos;

	/** How often the permits were reset. Permits from before a reset do not count. */
	private int resets;

	StartPermits(PolicySettings limits, long now) {
		this.limits = limits;
		this.nextStartNanos = now;
	}

	PolicySettings limits() {
		return this.limits;
	}

	void setLimits(PolicySettings limits) {
		this.limits = limits;
	}

	/**
	 * Forgets the permits that are taken, and the starts that the rate counts.
	 */
	void reset(long now) {
		this.resets++;
		this.held = 0;
		this.heldByKey.clear();
		this.reserved = 0;
		this.nextStartNanos = now;
	}

	/**
	 * Whether one more body may run, as far as all keys together are limited.
	 */
	boolean isFree() {
		Integer max = this.limits.maxConcurrent();
		return max == null || this.held < max;
	}

	/**
	 * Whether one more body of a key may run.
	 */
	boolean isKeyFree(Object slot) {
		Integer max = this.limits.maxConcurrentPerKey();
		return max == null || this.heldByKey.getOrDefault(slot, 0) < max;
	}

	/**
	 * When the rate allows one more start than those that are reserved.
	 * @return the time; {@code now} or earlier if the rate allows a start now
	 */
	long nextStart(long now) {
		StartRate rate = this.limits.rate();
		if (rate == null) {
			return now;
		}
		return notBefore(now) + (this.reserved - (rate.burst() - 1)) * rate.intervalNanos();
	}

	/**
	 * Whether the tasks that have taken a permit and not begun use up all starts that the
	 * rate allows at once. Then no time brings the next start, but the begin of one of
	 * them.
	 */
	boolean isRateReserved() {
		StartRate rate = this.limits.rate();
		return rate != null && this.reserved >= rate.burst();
	}

	private long notBefore(long now) {
		return (this.nextStartNanos - now > 0) ? this.nextStartNanos : now;
	}

	/**
	 * Takes a permit, which the caller has found free.
	 * @param slot the slot of the task, which stands for its key
	 */
	Permit take(Object slot) {
		this.held++;
		this.reserved++;
		boolean keyed = this.limits.maxConcurrentPerKey() != null;
		if (keyed) {
			this.heldByKey.merge(slot, 1, Integer::sum);
		}
		return new Permit(keyed ? slot : null);
	}

	/**
	 * What one task needs to start and to run.
	 */
	final class Permit {

		/** {@code null} if the key of the task was not limited. */
		private final @Nullable Object slot;

		private final int takenAfterResets = StartPermits.this.resets;

		private boolean begun;

		private Permit(@Nullable Object slot) {
			this.slot = slot;
		}

		/**
		 * Records that the body begins, which uses up one start of the rate.
		 */
		void begin(long now) {
			this.begun = true;
			if (isForgotten()) {
				return;
			}
			StartPermits permits = StartPermits.this;
			permits.reserved--;
			StartRate rate = permits.limits.rate();
			if (rate != null) {
				permits.nextStartNanos = notBefore(now) + rate.intervalNanos();
			}
		}

		/**
		 * Gives the permit back. Call this once.
		 */
		void giveBack() {
			if (isForgotten()) {
				return;
			}
			StartPermits permits = StartPermits.this;
			permits.held--;
			if (!this.begun) {
				permits.reserved--;
			}
			if (this.slot != null) {
				permits.heldByKey.computeIfPresent(this.slot, (slot, count) -> (count > 1) ? count - 1 : null);
			}
		}

		private boolean isForgotten() {
			return this.takenAfterResets != StartPermits.this.resets;
		}

	}

}

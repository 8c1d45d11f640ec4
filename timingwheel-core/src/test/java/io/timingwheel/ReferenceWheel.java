package io.timingwheel;

import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The contract of a wheel as an executable specification: timers in a sorted map by tick.
 * All times are nanoseconds since the wheel's creation.
 */
final class ReferenceWheel {

	private final long tickNanos;

	private final NavigableMap<Long, Set<ReferenceTimer>> byTick = new TreeMap<>();

	private final Set<ReferenceTimer> backingOff = new HashSet<>();

	private long now;

	private int pending;

	long scheduled;

	long rescheduled;

	long fired;

	long cancelled;

	long rejected;

	ReferenceWheel(long tickNanos) {
		this.tickNanos = tickNanos;
	}

	long now() {
		return this.now;
	}

	int pending() {
		return this.pending;
	}

	/**
	 * The time at which the next timer fires, {@link Long#MAX_VALUE} if there is none.
	 * Refused timers do not count, since the time of their next try is not known.
	 */
	long nextExpiry() {
		return this.byTick.isEmpty() ? Long.MAX_VALUE : timeOf(this.byTick.firstKey());
	}

	Collection<ReferenceTimer> backingOff() {
		return this.backingOff;
	}

	void schedule(ReferenceTimer timer, RandomDelay delay) {
		this.scheduled++;
		this.pending++;
		place(timer, delay);
	}

	void cancel(ReferenceTimer timer) {
		this.cancelled++;
		this.pending--;
		remove(timer);
		timer.state = ReferenceTimer.State.CANCELLED;
	}

	void reschedule(ReferenceTimer timer, RandomDelay delay) {
		this.rescheduled++;
		remove(timer);
		timer.moved = true;
		place(timer, delay);
	}

	void fire(ReferenceTimer timer, long at) {
		handOver(timer, at);
		this.fired++;
		this.pending--;
		timer.state = ReferenceTimer.State.FIRED;
	}

	void refuse(ReferenceTimer timer, long at) {
		handOver(timer, at);
		this.rejected++;
		timer.moved = true;
		timer.backingOff = true;
		this.backingOff.add(timer);
	}

	void advanceTo(long target) {
		assertThat(this.byTick.headMap(target / this.tickNanos, true)).as("timers that did not fire").isEmpty();
		this.now = target;
	}

	/**
	 * Checks that {@code remaining} is right up to the part of a tick by which a timer
	 * may be late.
	 */
	void checkRemaining(ReferenceTimer timer, long remaining) {
		if (timer.state != ReferenceTimer.State.PENDING) {
			assertThat(remaining).as("remaining of %s", timer).isZero();
		}
		else if (timer.deadline > Long.MAX_VALUE - this.tickNanos) {
			assertThat(remaining).as("remaining of %s", timer)
				.isGreaterThanOrEqualTo(Long.MAX_VALUE - this.now - this.tickNanos);
		}
		else if (!timer.backingOff) {
			long error = remaining - (timer.deadline - this.now);
			boolean dueNow = timer.tick * this.tickNanos < timer.deadline;
			assertThat(error).as("remaining of %s less the expected", timer)
				.isBetween(dueNow ? 1 - this.tickNanos : 0, dueNow ? 0 : this.tickNanos - 1);
		}
	}

	private void handOver(ReferenceTimer timer, long at) {
		assertThat(timer.state).as("state of %s when handed over", timer).isEqualTo(ReferenceTimer.State.PENDING);
		if (timer.backingOff) {
			assertThat(at).as("time of the next try of %s", timer).isGreaterThanOrEqualTo(this.now);
			assertThat(nextExpiry()).as("next expiry when %s is tried again at %s", timer, at)
				.isGreaterThan(at - this.tickNanos);
		}
		else {
			assertThat(timer.tick).as("tick of %s", timer).isEqualTo(this.byTick.firstKey());
			assertThat(at).as("time of %s", timer).isEqualTo(Math.max(this.now, timeOf(timer.tick)));
			checkFirstOfItsEquals(timer);
		}
		this.now = at;
		remove(timer);
	}

	private void checkFirstOfItsEquals(ReferenceTimer timer) {
		if (timer.moved) {
			return;
		}
		for (ReferenceTimer other : this.byTick.get(timer.tick)) {
			if (!other.moved && other.caller == timer.caller && other.deadline == timer.deadline) {
				assertThat(timer).as("first scheduled of those with equal deadlines").isSameAs(other);
				return;
			}
		}
	}

	private void place(ReferenceTimer timer, RandomDelay delay) {
		long nanos = delay.nanos();
		if (nanos > 0) {
			timer.deadline = (nanos > Long.MAX_VALUE - this.now) ? Long.MAX_VALUE : this.now + nanos;
			timer.tick = firstTickFrom(timer.deadline);
		}
		else if (delay.form() == RandomDelay.Form.DEADLINE && nanos > -this.tickNanos
				&& firstTickFrom(this.now + nanos) > currentTick()) {
			// The first tick after the deadline has not begun yet.
			timer.deadline = this.now + nanos;
			timer.tick = firstTickFrom(timer.deadline);
		}
		else {
			timer.deadline = this.now;
			timer.tick = currentTick();
			// The order among overdue timers is not defined.
			timer.moved |= delay.form() == RandomDelay.Form.DEADLINE;
		}
		this.byTick.computeIfAbsent(timer.tick, (tick) -> new LinkedHashSet<>()).add(timer);
	}

	private long firstTickFrom(long deadline) {
		return -Math.floorDiv(-deadline, this.tickNanos);
	}

	private void remove(ReferenceTimer timer) {
		if (timer.backingOff) {
			timer.backingOff = false;
			this.backingOff.remove(timer);
			return;
		}
		Set<ReferenceTimer> timers = this.byTick.get(timer.tick);
		timers.remove(timer);
		if (timers.isEmpty()) {
			this.byTick.remove(timer.tick);
		}
	}

	private long currentTick() {
		return this.now / this.tickNanos;
	}

	private long timeOf(long tick) {
		return (tick > Long.MAX_VALUE / this.tickNanos) ? Long.MAX_VALUE : tick * this.tickNanos;
	}

}

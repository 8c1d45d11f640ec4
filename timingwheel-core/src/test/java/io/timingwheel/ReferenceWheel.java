package io.timingwheel;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The contract of a wheel as an executable specification: timers in a sorted map by tick.
 * All times are nanoseconds since the wheel's creation.
 */
final class ReferenceWheel {

	/** The longest pause between two tries of an executor that refuses. */
	private static final long MAX_PAUSE = TimeUnit.SECONDS.toNanos(1);

	private final long tickNanos;

	private final int shards;

	private final NavigableMap<Long, Set<ReferenceTimer>> byTick = new TreeMap<>();

	/** The timers that wait for their executor, by group. */
	private final List<Set<ReferenceTimer>> waiting = new ArrayList<>();

	/** By group, the time of the last refusal, -1 if there was none. */
	private final long[] refusedAt;

	/** By group, the refusals at this time since an accepted task. */
	private final int[] refusals;

	private long now;

	private long pending;

	long scheduled;

	long rescheduled;

	long fired;

	long cancelled;

	long returned;

	long rejected;

	long refused;

	ReferenceWheel(long tickNanos, int shards, int groups) {
		this.tickNanos = tickNanos;
		this.shards = shards;
		for (int i = 0; i < groups; i++) {
			this.waiting.add(new LinkedHashSet<>());
		}
		this.refusedAt = new long[groups];
		Arrays.fill(this.refusedAt, -1);
		this.refusals = new int[groups];
	}

	long now() {
		return this.now;
	}

	long pending() {
		return this.pending;
	}

	/**
	 * The time at which the next timer fires, {@link Long#MAX_VALUE} if there is none.
	 * Waiting timers do not count, since the time of their next try is not known.
	 */
	long nextExpiry() {
		return this.byTick.isEmpty() ? Long.MAX_VALUE : timeOf(this.byTick.firstKey());
	}

	/** How many timers wait for their executor. */
	int waiting() {
		return this.waiting.stream().mapToInt(Set::size).sum();
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

	/**
	 * Records that {@code stop} has returned all pending timers.
	 */
	void returned(int count) {
		this.returned += count;
		this.pending -= count;
	}

	void reschedule(ReferenceTimer timer, RandomDelay delay) {
		this.rescheduled++;
		// A timer that waits keeps its place until its turn. One that is due may wait.
		timer.refused |= timer.waiting || (timer.group >= 0 && timer.tick <= currentTick());
		remove(timer);
		timer.moved = true;
		place(timer, delay);
	}

	void fire(ReferenceTimer timer, long at) {
		handOver(timer, at);
		this.fired++;
		this.pending--;
		if (timer.group >= 0) {
			this.refusals[timer.group] = 0;
		}
		timer.state = ReferenceTimer.State.FIRED;
	}

	void refuse(ReferenceTimer timer, long at) {
		handOver(timer, at);
		this.refused++;
		int group = timer.group;
		this.refusals[group] = (this.refusedAt[group] == at) ? this.refusals[group] + 1 : 1;
		// Each timer that names no executor is tried when it falls due.
		assertThat(this.refusals[group]).as("refusals of group %s at %s", group, at)
			.isLessThanOrEqualTo((group == ModelRun.UNNAMED) ? Integer.MAX_VALUE : 5 * this.shards);
		this.refusedAt[group] = at;
		timer.refused = true;
		timer.moved = true;
		startWaiting(timer);
	}

	/**
	 * Lets timers wait that did not fire, if their executor has refused not long ago. The
	 * caller finds the other ones.
	 * @param end the first tick at which no timer has to have fired
	 */
	private void holdBackBefore(long end) {
		for (Set<ReferenceTimer> timers : List.copyOf(this.byTick.headMap(end, false).values())) {
			for (ReferenceTimer timer : List.copyOf(timers)) {
				if (timer.group >= 0 && isRefusing(timer.group, timeOf(timer.tick))) {
					remove(timer);
					startWaiting(timer);
				}
			}
		}
	}

	private boolean isRefusing(int group, long at) {
		long refusedAt = this.refusedAt[group];
		return !this.waiting.get(group).isEmpty() || (refusedAt >= 0 && at - refusedAt <= MAX_PAUSE + this.tickNanos);
	}

	private void startWaiting(ReferenceTimer timer) {
		timer.waiting = true;
		this.waiting.get(timer.group).add(timer);
	}

	void advanceTo(long target) {
		holdBackBefore(target / this.tickNanos + 1);
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
		else if (timer.waiting) {
			assertThat(remaining).as("remaining of %s", timer).isZero();
		}
		else if (timer.deadline > Long.MAX_VALUE - this.tickNanos) {
			assertThat(remaining).as("remaining of %s", timer)
				.isGreaterThanOrEqualTo(Long.MAX_VALUE - this.now - this.tickNanos);
		}
		else {
			long error = remaining - (timer.deadline - this.now);
			boolean dueNow = timer.tick * this.tickNanos < timer.deadline;
			assertThat(error).as("remaining of %s less the expected", timer)
				.isBetween(dueNow ? 1 - this.tickNanos : 0, dueNow ? 0 : this.tickNanos - 1);
		}
	}

	private void handOver(ReferenceTimer timer, long at) {
		assertThat(timer.state).as("state of %s when handed over", timer).isEqualTo(ReferenceTimer.State.PENDING);
		holdBackBefore(Math.max(0, at - 1) / this.tickNanos + ((at > 0) ? 1 : 0));
		if (timer.waiting) {
			assertThat(at).as("time of the next try of %s", timer).isGreaterThanOrEqualTo(this.now);
			assertThat(nextExpiry()).as("next expiry when %s is tried again at %s", timer, at)
				.isGreaterThan(at - this.tickNanos);
		}
		else {
			assertThat(timer.tick).as("tick of %s", timer).isEqualTo(this.byTick.firstKey());
			assertThat(at).as("time of %s", timer).isEqualTo(Math.max(this.now, timeOf(timer.tick)));
			checkFirstOfItsEquals(timer, this.byTick.get(timer.tick));
		}
		if (timer.group >= 0) {
			checkFirstOfItsGroup(timer);
		}
		this.now = at;
		remove(timer);
	}

	/**
	 * Checks that a timer overtakes no other timer of its executor and shard that has
	 * waited, but was not refused itself. All timers of a caller are in one shard.
	 */
	private void checkFirstOfItsGroup(ReferenceTimer timer) {
		if (timer.refused) {
			return;
		}
		Set<ReferenceTimer> waiting = this.waiting.get(timer.group);
		checkFirstOfItsEquals(timer, waiting);
		for (ReferenceTimer other : waiting) {
			boolean sameShard = this.shards == 1 || other.caller == timer.caller;
			if (sameShard && !other.refused && other.tick < timer.tick) {
				throw new AssertionError(timer + " overtakes " + other);
			}
		}
	}

	private void checkFirstOfItsEquals(ReferenceTimer timer, Collection<ReferenceTimer> others) {
		if (timer.moved) {
			return;
		}
		for (ReferenceTimer other : others) {
			boolean heldBack = other.group >= 0 && other.group != timer.group
					&& isRefusing(other.group, timeOf(other.tick));
			if (!other.moved && !heldBack && other.caller == timer.caller && other.deadline == timer.deadline) {
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
		if (timer.waiting) {
			timer.waiting = false;
			this.waiting.get(timer.group).remove(timer);
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

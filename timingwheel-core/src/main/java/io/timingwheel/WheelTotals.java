package io.timingwheel;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The sums of the shards, from which {@link WheelSnapshot} and {@link WheelSlots} are
 * made.
 */
final class WheelTotals {

	private final int wheelSize;

	long pending;

	long scheduled;

	long rescheduled;

	long fired;

	long cancelled;

	long returned;

	/** By level and slot, how many shards have a timer in the slot. */
	private final List<int[]> slots = new ArrayList<>();

	private final long[] timers = new long[Long.SIZE];

	WheelTotals(int wheelSize) {
		this.wheelSize = wheelSize;
	}

	/**
	 * Adds the slots of a wheel. The caller holds the lock of its shard.
	 */
	void add(Wheel wheel) {
		while (this.slots.size() < wheel.levels()) {
			this.slots.add(new int[this.wheelSize]);
		}
		wheel.forEachSlot((list) -> {
			int level = wheel.levelOf(list);
			this.slots.get(level)[list.slot % this.wheelSize]++;
			this.timers[level] += list.size();
		});
	}

	List<List<Integer>> slots() {
		return this.slots.stream().map((level) -> IntStream.of(level).boxed().toList()).toList();
	}

	List<WheelSnapshot.Level> levels(long tickNanos) {
		List<WheelSnapshot.Level> result = new ArrayList<>(this.slots.size());
		long tick = tickNanos;
		for (int number = 0; number < this.slots.size(); number++) {
			long span = (tick > Long.MAX_VALUE / this.wheelSize) ? Long.MAX_VALUE : tick * this.wheelSize;
			int occupied = Arrays.stream(this.slots.get(number)).sum();
			result.add(new WheelSnapshot.Level(number, Duration.ofNanos(tick), Duration.ofNanos(span),
					this.timers[number], occupied));
			tick = span;
		}
		return result;
	}

}

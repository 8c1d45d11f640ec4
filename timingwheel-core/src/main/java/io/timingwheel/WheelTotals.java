package io.timingwheel;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * The sums of the shards' counters, from which a {@link WheelSnapshot} is made.
 */
final class WheelTotals {

	long pending;

	long scheduled;

	long rescheduled;

	long fired;

	long cancelled;

	long returned;

	long rejected;

	private final List<long[]> levels = new ArrayList<>();

	void addLevel(int number, long pending, int occupiedSlots) {
		while (this.levels.size() <= number) {
			this.levels.add(new long[2]);
		}
		long[] level = this.levels.get(number);
		level[0] += pending;
		level[1] += occupiedSlots;
	}

	List<WheelSnapshot.Level> levels(long tickNanos, int wheelSize) {
		List<WheelSnapshot.Level> result = new ArrayList<>(this.levels.size());
		long tick = tickNanos;
		for (int number = 0; number < this.levels.size(); number++) {
			long span = (tick > Long.MAX_VALUE / wheelSize) ? Long.MAX_VALUE : tick * wheelSize;
			long[] level = this.levels.get(number);
			result.add(new WheelSnapshot.Level(number, Duration.ofNanos(tick), Duration.ofNanos(span), level[0],
					(int) level[1]));
			tick = span;
		}
		return result;
	}

}

package io.timingwheel;

import java.util.List;

/**
 * Which slots of a {@link TimingWheel} hold timers, for a display. The numbers tell
 * roughly how full the slots are. Immutable.
 *
 * @param tick the current tick, counted from the creation of the wheel. Its digits in
 * base {@link WheelSnapshot#wheelSize()} are the current slots of the levels
 * @param levels for each level, the finest first, and for each of its slots, in how many
 * shards it holds timers, this rotation and the next counted apart; up to the highest
 * level that holds or held timers
 * @since 0.1
 */
public record WheelSlots(long tick, List<List<Integer>> levels) {

	public WheelSlots {
		levels = levels.stream().map(List::copyOf).toList();
	}

	/**
	 * Reads the slots of a wheel; no levels if the wheel is not one of
	 * {@link TimingWheel.Builder#build()}. Takes the lock of each shard for a moment.
	 */
	public static WheelSlots of(TimingWheel wheel) {
		return (wheel instanceof HierarchicalTimingWheel levels) ? levels.slots() : new WheelSlots(0, List.of());
	}

}

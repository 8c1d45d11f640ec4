package io.timingwheel;

import java.time.Duration;
import java.util.Collections;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class WheelSlotsTests {

	private final ManualTimeSource time = new ManualTimeSource();

	private final TimingWheel wheel = TimingWheel.builder(Runnable::run)
		.tick(Duration.ofMillis(1))
		.wheelSize(16)
		.shards(1)
		.timeSource(this.time)
		.build();

	@Test
	void theDigitsOfADueTickSelectTheSlots() {
		assertThat(WheelSlots.of(this.wheel).levels()).isEmpty();
		schedule(5);
		schedule(5);
		schedule(3 * 16 + 7);
		WheelSlots slots = WheelSlots.of(this.wheel);
		assertThat(slots.tick()).isZero();
		assertThat(slots.levels()).hasSize(2);
		assertThat(slots.levels().get(0)).hasSize(16).containsOnlyOnce(1);
		assertThat(slots.levels().get(0).get(5)).isOne();
		assertThat(slots.levels().get(1)).hasSize(16).containsOnlyOnce(1);
		assertThat(slots.levels().get(1).get(3)).isOne();
	}

	@Test
	void aTimerMovesDownToTheSlotOfItsTick() {
		schedule(3 * 16 + 7);
		this.time.advance(Duration.ofMillis(3 * 16 + 2));
		WheelSlots slots = WheelSlots.of(this.wheel);
		assertThat(slots.tick()).isEqualTo(3 * 16 + 2);
		assertThat(slots.levels().get(0).get(7)).isOne();
		assertThat(slots.levels().get(1)).containsOnly(0);
	}

	@Test
	void eachShardWithATimerCounts() {
		TimingWheel sharded = TimingWheel.builder(Runnable::run)
			.wheelSize(16)
			.shards(2)
			.timeSource(new ManualTimeSource())
			.build();
		for (int i = 0; i < 100; i++) {
			sharded.schedule(() -> {
			}, Duration.ofMillis(1 + i % 15));
		}
		assertThat(Collections.max(WheelSlots.of(sharded).levels().get(0))).isBetween(1, 2);
	}

	private void schedule(long ms) {
		this.wheel.schedule(() -> {
		}, Duration.ofMillis(ms));
	}

}

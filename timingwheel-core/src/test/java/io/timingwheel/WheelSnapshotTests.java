package io.timingwheel;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.tuple;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link TimingWheel#snapshot()} and {@link TimingWheel#pending()}.
 */
class WheelSnapshotTests {

	private final ManualTimeSource clock = new ManualTimeSource();

	private final RecordingTask task = new RecordingTask(this.clock);

	private final TimingWheel wheel = TimingWheel.builder(Runnable::run)
		.tick(Duration.ofMillis(10))
		.wheelSize(4)
		.shards(2)
		.timeSource(this.clock)
		.build();

	@Test
	void wheelWhoseThreadHasEndedIsStopped() {
		this.wheel.schedule(this.task, 1, TimeUnit.SECONDS);
		((HierarchicalTimingWheel) this.wheel).driver.shut();
		assertThat(this.wheel.snapshot().state()).isEqualTo(WheelSnapshot.State.STOPPED);
		assertThatExceptionOfType(RejectedExecutionException.class)
			.isThrownBy(() -> this.wheel.schedule(this.task, 1, TimeUnit.SECONDS));
		assertThat(this.wheel.stop()).hasSize(1);
	}

	@Test
	void eachLevelHasTheSpanOfTheFinerOneAsItsTick() {
		this.wheel.schedule(this.task, 10, TimeUnit.DAYS);
		List<WheelSnapshot.Level> levels = this.wheel.snapshot().levels();
		assertThat(levels).hasSizeGreaterThan(5);
		Duration tick = Duration.ofMillis(10);
		for (int i = 0; i < levels.size(); i++) {
			assertThat(levels.get(i).level()).isEqualTo(i);
			assertThat(levels.get(i).tick()).isEqualTo(tick);
			tick = tick.multipliedBy(4);
			assertThat(levels.get(i).span()).isEqualTo(tick);
		}
	}

	@Test
	void levelsCountTheTimersAndTheOccupiedSlots() {
		this.wheel.schedule(this.task, 10, TimeUnit.MILLISECONDS);
		this.wheel.schedule(this.task, 10, TimeUnit.MILLISECONDS);
		this.wheel.schedule(this.task, 30, TimeUnit.MILLISECONDS);
		this.wheel.schedule(this.task, 50, TimeUnit.MILLISECONDS);
		this.wheel.schedule(this.task, 60, TimeUnit.MILLISECONDS);
		this.wheel.schedule(this.task, 150, TimeUnit.MILLISECONDS);
		this.wheel.schedule(this.task, 160, TimeUnit.MILLISECONDS);
		assertThat(this.wheel.snapshot().levels())
			.extracting(WheelSnapshot.Level::pending, WheelSnapshot.Level::occupiedSlots)
			.containsExactly(tuple(5L, 4), tuple(2L, 2));
		assertThatExceptionOfType(UnsupportedOperationException.class)
			.isThrownBy(() -> this.wheel.snapshot().levels().clear());
		this.wheel.stop();
		assertThat(this.wheel.snapshot().nextExpiry()).isNull();
		assertThat(this.wheel.snapshot().levels()).allMatch((level) -> level.pending() == 0);
	}

	@Test
	void slotsShowWhereTimersStandUntilTheyCascade() {
		assertThat(WheelSlots.of(this.wheel).levels()).isEmpty();
		this.wheel.schedule(this.task, 20, TimeUnit.MILLISECONDS);
		this.wheel.schedule(this.task, 20, TimeUnit.MILLISECONDS);
		this.wheel.schedule(this.task, 250, TimeUnit.MILLISECONDS);
		WheelSlots slots = WheelSlots.of(this.wheel);
		assertThat(slots.tick()).isZero();
		assertThat(slots.levels()).containsExactly(List.of(0, 0, 1, 0), List.of(0, 0, 1, 0));
		this.clock.advance(Duration.ofMillis(230));
		slots = WheelSlots.of(this.wheel);
		assertThat(slots.tick()).isEqualTo(23);
		assertThat(slots.levels()).containsExactly(List.of(0, 1, 0, 0), List.of(0, 0, 0, 0));
	}

	@Test
	void timerMovedToLaterStandsInItsOldSlotUntilTheDriverComesToIt() {
		TimerHandle handle = this.wheel.schedule(this.task, 20, TimeUnit.MILLISECONDS);
		handle.reschedule(1_000, TimeUnit.MILLISECONDS);
		assertThat(this.wheel.snapshot().levels().get(0).pending()).isOne();
		assertThat(this.wheel.snapshot().nextExpiry()).isLessThanOrEqualTo(Duration.ofMillis(1_000));
		this.clock.advance(Duration.ofMillis(20));
		assertThat(this.wheel.snapshot().levels().get(0).pending()).isZero();
		assertThat(this.wheel.pending()).isOne();
		assertThat(this.task.count()).isZero();
	}

	@Test
	void nextExpiryIsZeroWhileTimersAreBeingHandedOver() {
		List<Duration> seen = new ArrayList<>();
		this.wheel.schedule(() -> seen.add(this.wheel.snapshot().nextExpiry()), 30, TimeUnit.MILLISECONDS);
		this.wheel.schedule(this.task, 30, TimeUnit.MILLISECONDS);
		this.wheel.schedule(this.task, 1, TimeUnit.DAYS);
		this.clock.advance(Duration.ofMillis(30));
		assertThat(seen).containsExactly(Duration.ZERO);
	}

	@Test
	void lagIsTheTimeThatDueTimersHaveBeenWaitingForTheDriver() {
		CountDownLatch blocked = new CountDownLatch(1);
		CountDownLatch release = new CountDownLatch(1);
		DirectTask blocking = () -> {
			blocked.countDown();
			Latches.await(release);
		};
		try (TimingWheel wheel = TimingWheel.builder(Runnable::run).build()) {
			wheel.schedule(blocking, 0, TimeUnit.MILLISECONDS);
			Latches.await(blocked);
			wheel.schedule(this.task, 1, TimeUnit.MILLISECONDS);
			Duration waited = Duration.ofMillis(60);
			await().until(() -> wheel.snapshot().lag().compareTo(waited) > 0);
			release.countDown();
			await().until(() -> this.task.count() == 1);
			await().until(() -> wheel.snapshot().lag().isZero());
			assertThat(wheel.snapshot().maxLag()).isGreaterThanOrEqualTo(Duration.ofMillis(50))
				.isLessThan(Duration.ofMinutes(2));
		}
	}

	@Test
	void wakeUpsCountTheStartsOfOccupiedSlots() {
		try (TimingWheel wheel = TimingWheel.builder(Runnable::run).build()) {
			for (int i = 1; i <= 5; i++) {
				wheel.schedule(this.task, 50 * i, TimeUnit.MILLISECONDS);
			}
			await().until(() -> this.task.count() == 5);
			// Each timer may have cascaded from one level.
			assertThat(wheel.snapshot().wakeUps()).isLessThanOrEqualTo(10);
			// A driver that was busy until a deadline does not wake up for it.
			await().until(() -> {
				wheel.schedule(this.task, 50, TimeUnit.MILLISECONDS);
				return wheel.snapshot().wakeUps() > 0;
			});
		}
	}

}

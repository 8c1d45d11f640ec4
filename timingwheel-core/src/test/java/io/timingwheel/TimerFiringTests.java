package io.timingwheel;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests when and in which order timers fire. {@link WheelModelTests} does so with all
 * delays, deadlines, clocks and settings.
 */
class TimerFiringTests {

	private final ManualTimeSource clock = new ManualTimeSource();

	private final TimingWheel wheel = TimingWheel.builder(Runnable::run).timeSource(this.clock).build();

	@ParameterizedTest
	@CsvSource({ "1, 1", "3, 7", "1000, 999", "1000, 1000", "1000, 1001", "1000000, 1", "1000000, 999999",
			"1000000, 1000001", "1234567, 9876543", "86400000000000, 86400000000001" })
	void timerIsNeverEarlyByANanosecondNorLateByMoreThanATick(long tick, long delay) {
		for (long offset : List.of(0L, 1L, tick / 2, tick - 1, tick, 17 * tick + tick / 3)) {
			ManualTimeSource clock = new ManualTimeSource();
			RecordingTask task = new RecordingTask(clock);
			TimingWheel wheel = TimingWheel.builder(Runnable::run)
				.tick(Duration.ofNanos(tick))
				.timeSource(clock)
				.build();
			clock.advance(Duration.ofNanos(offset));
			wheel.schedule(task, delay, TimeUnit.NANOSECONDS);
			wheel.scheduleAt(task, wheel.nanoTime() + delay);
			wheel.schedule(task, Duration.ofDays(10)).reschedule(Duration.ofNanos(delay));
			clock.advance(Duration.ofNanos(delay - 1));
			assertThat(task.count()).as("offset %s", offset).isZero();
			clock.advance(Duration.ofNanos(tick));
			assertThat(task.times()).as("offset %s", offset).hasSize(3).allSatisfy((time) -> {
				assertThat(time - offset).isBetween(delay, delay + tick - 1);
				assertThat(time % tick).isZero();
			});
		}
	}

	@ParameterizedTest
	@ValueSource(longs = { 0, 1, 255, 256, 65_535, 65_536, 16_777_217 })
	void timersWithEqualDeadlinesFireInTheOrderInWhichOneThreadScheduledThem(long delay) {
		List<Integer> fired = new ArrayList<>();
		// More timers than the wheel cascades or fires in one step.
		int count = 5_000;
		for (int i = 0; i < count; i++) {
			int id = i;
			this.wheel.schedule(() -> fired.add(id), delay, TimeUnit.MILLISECONDS);
		}
		this.clock.advance(Duration.ofMillis(delay));
		assertThat(fired).isEqualTo(IntStream.range(0, count).boxed().toList());
	}

	/**
	 * RussellLuo/timingwheel uses the wall clock, which may be set.
	 */
	@Test
	void nanoTimeIsTheClockOfTheWheel() {
		this.clock.advance(Duration.ofNanos(123_456_789));
		assertThat(this.wheel.nanoTime()).isEqualTo(123_456_789);
		assertThat(this.wheel.timeSource()).isSameAs(this.clock);
		try (TimingWheel real = TimingWheel.builder(Runnable::run).build()) {
			long earliest = System.nanoTime();
			long reading = real.nanoTime();
			assertThat(reading - earliest).isNotNegative();
			assertThat(System.nanoTime() - reading).isNotNegative();
		}
	}

	/**
	 * The shard's clock is ten hours behind. A slot that counts from this clock would
	 * begin in the past, and would wake the driver at once.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void firstTimerAfterALongTimeWakesTheDriverOnlyWhenItIsDue(boolean byDeadline) {
		this.clock.advance(Duration.ofHours(10));
		Runnable task = new RecordingTask(this.clock);
		if (byDeadline) {
			this.wheel.scheduleAt(task, this.wheel.nanoTime() + TimeUnit.MILLISECONDS.toNanos(100));
		}
		else {
			this.wheel.schedule(task, 100, TimeUnit.MILLISECONDS);
		}
		assertThat(this.wheel.snapshot().nextExpiry()).isEqualTo(Duration.ofMillis(100));
	}

}

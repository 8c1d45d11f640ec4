package io.timingwheel;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

/**
 * Tests for deadlines on the wheel's clock.
 */
class DeadlineTests {

	private static final long MILLI = TimeUnit.MILLISECONDS.toNanos(1);

	private final List<String> fired = new ArrayList<>();

	/**
	 * RussellLuo/timingwheel uses the wall clock, which may be set.
	 */
	@Test
	void nanoTimeIsTheClockOfTheWheel() {
		ManualTimeSource clock = new ManualTimeSource();
		TimingWheel wheel = wheel(clock);
		long before = wheel.nanoTime();
		clock.advance(Duration.ofNanos(123_456_789));
		assertThat(wheel.nanoTime() - before).isEqualTo(123_456_789);
		assertThat(wheel.nanoTime()).isEqualTo(clock.nanoTime());
		try (TimingWheel real = TimingWheel.builder(Runnable::run).build()) {
			long earliest = System.nanoTime();
			long reading = real.nanoTime();
			assertThat(reading - earliest).isNotNegative();
			assertThat(System.nanoTime() - reading).isNotNegative();
		}
	}

	/**
	 * From some of the origins, the reading of the clock wraps around during the test.
	 */
	@ParameterizedTest
	@ValueSource(longs = { 0, -5_000_000, Long.MAX_VALUE - 3_000_000, Long.MIN_VALUE, Long.MAX_VALUE })
	void timerFiresAtTheFirstTickAtOrAfterItsDeadline(long origin) {
		ManualTimeSource clock = new ManualTimeSource(origin);
		TimingWheel wheel = wheel(clock);
		long now = wheel.nanoTime();
		for (long deadline : new long[] { 7 * MILLI, 7 * MILLI + 1, 8 * MILLI, 8 * MILLI - 1, 300 * MILLI }) {
			wheel.scheduleAt(() -> this.fired.add(deadline + " at " + (clock.nanoTime() - now)), now + deadline);
		}
		clock.advance(Duration.ofSeconds(1));
		assertThat(this.fired).containsExactly("7000000 at 7000000", "7000001 at 8000000", "8000000 at 8000000",
				"7999999 at 8000000", "300000000 at 300000000");
	}

	@ParameterizedTest
	@ValueSource(longs = { 0, Long.MAX_VALUE - 3_000_000, Long.MIN_VALUE })
	void deadlineThatHasPassedIsDueNow(long origin) {
		ManualTimeSource clock = new ManualTimeSource(origin);
		TimingWheel wheel = wheel(clock);
		clock.advance(Duration.ofMillis(20));
		long now = wheel.nanoTime();
		for (long past : new long[] { 0, 1, 19 * MILLI, 20 * MILLI, 21 * MILLI, 1L << 62, Long.MAX_VALUE,
				Long.MIN_VALUE }) {
			TimerHandle handle = wheel.scheduleAt(() -> this.fired.add(past + " at " + (clock.nanoTime() - now)),
					now - past);
			assertThat(handle.isPending()).isTrue();
			assertThat(handle.remaining(TimeUnit.NANOSECONDS)).isZero();
			assertThat(this.fired).as("fired on the caller's thread").isEmpty();
			clock.advance(Duration.ZERO);
			assertThat(this.fired).containsExactly(past + " at 0");
			this.fired.clear();
		}
	}

	/**
	 * No tick begins between the deadline and the call. To know this, the wheel would
	 * have to read the clock.
	 */
	@Test
	void deadlineThatHasPassedWithinTheTickIsDueAtTheNextTick() {
		ManualTimeSource clock = new ManualTimeSource();
		TimingWheel wheel = wheel(clock);
		wheel.schedule(() -> this.fired.add("hour"), 1, TimeUnit.HOURS);
		clock.advance(Duration.ofNanos(20 * MILLI + MILLI / 2));
		long now = wheel.nanoTime();
		for (long past : new long[] { 0, 1, MILLI / 2 - 1, MILLI / 2, MILLI }) {
			wheel.scheduleAt(() -> this.fired.add(past + " at " + (clock.nanoTime() - now)), now - past);
		}
		clock.advance(Duration.ZERO);
		assertThat(this.fired).containsExactlyInAnyOrder("500000 at 0", "1000000 at 0");
		this.fired.clear();
		clock.advance(Duration.ofMillis(1));
		assertThat(this.fired).containsExactlyInAnyOrder("0 at 500000", "1 at 500000", "499999 at 500000");
	}

	@Test
	void latestDeadlineStaysPending() {
		ManualTimeSource clock = new ManualTimeSource();
		TimingWheel wheel = wheel(clock);
		clock.advance(Duration.ofSeconds(3));
		TimerHandle scheduled = wheel.scheduleAt(() -> this.fired.add("scheduled"), wheel.nanoTime() + Long.MAX_VALUE);
		TimerHandle moved = wheel.schedule(() -> this.fired.add("moved"), 1, TimeUnit.SECONDS);
		assertThat(moved.rescheduleAt(wheel.nanoTime() + Long.MAX_VALUE)).isTrue();
		clock.advance(Duration.ofDays(1_000));
		assertThat(this.fired).isEmpty();
		assertThat(scheduled.remaining(TimeUnit.DAYS)).isGreaterThan(90_000);
		assertThat(moved.remaining(TimeUnit.DAYS)).isGreaterThan(90_000);
	}

	@Test
	void moveGoesToTheDeadline() {
		ManualTimeSource clock = new ManualTimeSource();
		TimingWheel wheel = wheel(clock);
		TimerHandle handle = wheel.schedule(() -> this.fired.add("at " + clock.nanoTime()), 10, TimeUnit.MILLISECONDS);
		long now = wheel.nanoTime();
		clock.advance(Duration.ofMillis(5));
		// The caller's reading is 5 ms old.
		assertThat(handle.rescheduleAt(now + 400 * MILLI)).isTrue();
		assertThat(handle.rescheduleAt(now + 90 * MILLI + 1)).isTrue();
		assertThat(handle.remaining(TimeUnit.MILLISECONDS)).isEqualTo(86);
		clock.advance(Duration.ofMillis(300));
		assertThat(this.fired).containsExactly("at 91000000");
		assertThat(wheel.snapshot().rescheduled()).isEqualTo(2);
	}

	@Test
	void moveToAPastDeadlineMakesTheTimerDueNow() {
		ManualTimeSource clock = new ManualTimeSource();
		TimingWheel wheel = wheel(clock);
		clock.advance(Duration.ofMinutes(1));
		TimerHandle handle = wheel.schedule(() -> this.fired.add("ran"), 1, TimeUnit.HOURS);
		assertThat(handle.rescheduleAt(wheel.nanoTime() - TimeUnit.SECONDS.toNanos(90))).isTrue();
		clock.advance(Duration.ZERO);
		assertThat(this.fired).containsExactly("ran");
	}

	/**
	 * The shard's clock is ten hours behind. A slot that counts from this clock would
	 * begin in the past, and would wake the driver at once.
	 */
	@Test
	void deadlineNeedsNoMoreWakeUpsThanADelayAfterALongTime() {
		for (boolean byDeadline : new boolean[] { false, true }) {
			ManualTimeSource clock = new ManualTimeSource();
			TimingWheel wheel = wheel(clock);
			clock.advance(Duration.ofHours(10));
			if (byDeadline) {
				wheel.scheduleAt(() -> {
				}, wheel.nanoTime() + 100 * MILLI);
			}
			else {
				wheel.schedule(() -> {
				}, 100, TimeUnit.MILLISECONDS);
			}
			assertThat(wheel.snapshot().nextExpiry()).as("by deadline: %s", byDeadline)
				.isEqualTo(Duration.ofMillis(100));
		}
	}

	@Test
	void timerThatHasEndedIsNotMovedAndAStoppedWheelTakesNoDeadline() {
		ManualTimeSource clock = new ManualTimeSource();
		TimingWheel wheel = wheel(clock);
		TimerHandle cancelled = wheel.scheduleAt(() -> this.fired.add("cancelled"), wheel.nanoTime() + MILLI);
		cancelled.cancel();
		TimerHandle ran = wheel.scheduleAt(() -> this.fired.add("ran"), wheel.nanoTime() + MILLI);
		clock.advance(Duration.ofMillis(1));
		TimerHandle returned = wheel.scheduleAt(() -> this.fired.add("returned"), wheel.nanoTime() + MILLI);
		assertThat(wheel.stop()).hasSize(1);
		for (TimerHandle handle : List.of(cancelled, ran, returned)) {
			assertThat(handle.rescheduleAt(wheel.nanoTime() + MILLI)).isFalse();
		}
		clock.advance(Duration.ofSeconds(1));
		assertThat(this.fired).containsExactly("ran");
		assertThatExceptionOfType(RejectedExecutionException.class).isThrownBy(() -> wheel.scheduleAt(() -> {
		}, wheel.nanoTime()));
	}

	@Test
	void nullIsRefused() {
		TimingWheel wheel = wheel(new ManualTimeSource());
		assertThatNullPointerException().isThrownBy(() -> wheel.scheduleAt(null, wheel.nanoTime()))
			.withMessageContaining("task");
	}

	@Test
	void limitCountsTimersWithADeadline() {
		TimingWheel wheel = TimingWheel.builder(Runnable::run)
			.shards(4)
			.maxPending(3)
			.timeSource(new ManualTimeSource())
			.build();
		for (int i = 0; i < 3; i++) {
			wheel.scheduleAt(() -> {
			}, wheel.nanoTime() + MILLI);
		}
		assertThatExceptionOfType(RejectedExecutionException.class).isThrownBy(() -> wheel.scheduleAt(() -> {
		}, wheel.nanoTime() + MILLI));
		assertThat(wheel.pending()).isEqualTo(3);
	}

	private static TimingWheel wheel(ManualTimeSource clock) {
		return TimingWheel.builder(Runnable::run).timeSource(clock).build();
	}

}

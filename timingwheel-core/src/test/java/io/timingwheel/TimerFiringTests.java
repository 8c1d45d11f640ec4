package io.timingwheel;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests when and in which order timers fire, with a manual clock.
 */
class TimerFiringTests {

	private final ManualTimeSource clock = new ManualTimeSource();

	private final RecordingTask task = new RecordingTask(this.clock);

	@Test
	void timerFiresAtTheFirstTickAtOrAfterItsDeadline() {
		TimingWheel wheel = wheel(Duration.ofMillis(10));
		wheel.schedule(this.task, 25, TimeUnit.MILLISECONDS);
		this.clock.advance(Duration.ofMillis(30).minusNanos(1));
		assertThat(this.task.count()).isZero();
		this.clock.advance(Duration.ofNanos(1));
		assertThat(this.task.times()).containsExactly(TimeUnit.MILLISECONDS.toNanos(30));
	}

	@ParameterizedTest
	@CsvSource({ "1, 1", "3, 7", "1000, 999", "1000, 1000", "1000, 1001", "1000000, 1", "1000000, 999999",
			"1000000, 1000001", "1234567, 9876543", "86400000000000, 86400000000001" })
	void timerIsNeverEarlyByANanosecondNorLateByMoreThanATick(long tick, long delay) {
		for (long offset : List.of(0L, 1L, tick / 2, tick - 1, tick, 17 * tick + tick / 3)) {
			ManualTimeSource clock = new ManualTimeSource();
			RecordingTask task = new RecordingTask(clock);
			try (TimingWheel wheel = TimingWheel.builder(Runnable::run)
				.tick(Duration.ofNanos(tick))
				.timeSource(clock)
				.build()) {
				clock.advance(Duration.ofNanos(offset));
				wheel.schedule(task, delay, TimeUnit.NANOSECONDS);
				clock.advance(Duration.ofNanos(delay - 1));
				assertThat(task.count()).as("offset %s", offset).isZero();
				clock.advance(Duration.ofNanos(tick));
				assertThat(task.times()).as("offset %s", offset).singleElement().satisfies((time) -> {
					assertThat(time - offset).isBetween(delay, delay + tick - 1);
					assertThat(time % tick).isZero();
				});
			}
		}
	}

	@ParameterizedTest
	@ValueSource(longs = { 0, -1, -1_000_000_000, Long.MIN_VALUE })
	void zeroAndNegativeDelaysAreDueAtTheNextAdvanceEvenByZero(long delay) {
		TimingWheel wheel = wheel(Duration.ofMillis(10));
		this.clock.advance(Duration.ofMillis(25));
		wheel.schedule(this.task, delay, TimeUnit.NANOSECONDS);
		wheel.schedule(this.task, Duration.ofNanos(delay));
		wheel.schedule(this.task, delay, TimeUnit.DAYS);
		wheel.schedule(this.task, Duration.ofSeconds(delay));
		assertThat(this.task.count()).as("runs on the calling thread").isZero();
		assertThat(wheel.pending()).isEqualTo(4);
		this.clock.advance(Duration.ZERO);
		assertThat(this.task.times()).hasSize(4).containsOnly(TimeUnit.MILLISECONDS.toNanos(25));
		assertThat(wheel.pending()).isZero();
	}

	@Test
	void timersThatAreDueNowSeeTheCurrentTimeAndLaterOnesTheirTick() {
		TimingWheel wheel = wheel(Duration.ofMillis(10));
		this.clock.advance(Duration.ofMillis(25));
		wheel.schedule(this.task, 12, TimeUnit.MILLISECONDS);
		wheel.schedule(this.task, 0, TimeUnit.MILLISECONDS);
		this.clock.advance(Duration.ofMillis(100));
		assertThat(this.task.times()).containsExactly(TimeUnit.MILLISECONDS.toNanos(25),
				TimeUnit.MILLISECONDS.toNanos(40));
		assertThat(this.clock.nanoTime()).isEqualTo(TimeUnit.MILLISECONDS.toNanos(125));
	}

	@Test
	void hugeDelaysAreLegalAndSaturate() {
		TimingWheel wheel = wheel(Duration.ofMillis(1));
		this.clock.advance(Duration.ofDays(3));
		List<TimerHandle> handles = List.of(wheel.schedule(this.task, Long.MAX_VALUE, TimeUnit.NANOSECONDS),
				wheel.schedule(this.task, Long.MAX_VALUE, TimeUnit.DAYS),
				wheel.schedule(this.task, Duration.ofNanos(Long.MAX_VALUE)),
				wheel.schedule(this.task, Duration.ofSeconds(Long.MAX_VALUE, 999_999_999)));
		this.clock.advance(Duration.ofDays(200 * 365));
		assertThat(this.task.count()).isZero();
		assertThat(wheel.pending()).isEqualTo(4);
		assertThat(handles).allSatisfy((handle) -> {
			assertThat(handle.isPending()).isTrue();
			assertThat(handle.remaining(TimeUnit.DAYS)).isGreaterThan(80 * 365);
			assertThat(handle.cancel()).isTrue();
		});
		assertThat(wheel.pending()).isZero();
	}

	/** Akka #20424: the scheduler died after 2^31 ticks. */
	@ParameterizedTest
	@ValueSource(ints = { 31, 32, 33, 47, 62 })
	void wheelGoesOnAfterAnyNumberOfTicks(int exponent) {
		TimingWheel wheel = TimingWheel.builder(Runnable::run)
			.tick(Duration.ofNanos(1))
			.wheelSize(64)
			.timeSource(this.clock)
			.build();
		long ticks = 1L << exponent;
		wheel.schedule(this.task, ticks + 5, TimeUnit.NANOSECONDS);
		this.clock.advance(Duration.ofNanos(ticks - 5));
		for (int i = 1; i <= 20; i++) {
			wheel.schedule(this.task, i, TimeUnit.NANOSECONDS);
		}
		this.clock.advance(Duration.ofNanos(20));
		List<Long> expected = new ArrayList<>();
		for (int i = 1; i <= 20; i++) {
			expected.add(ticks - 5 + i);
		}
		expected.add(10, ticks + 5);
		assertThat(this.task.times()).isEqualTo(expected);
	}

	/**
	 * Caffeine 7cc9f1f41: a timer could fire one rotation late.
	 */
	@ParameterizedTest
	@ValueSource(ints = { 2, 4, 64, 256, 1024, 4096 })
	void timerFiresOnceAndOnTimeAtEveryDistance(int wheelSize) {
		TimingWheel wheel = TimingWheel.builder(Runnable::run).wheelSize(wheelSize).timeSource(this.clock).build();
		List<Long> expected = new ArrayList<>();
		for (long delay = 1; delay < TimeUnit.DAYS.toMillis(100_000); delay = delay * 3 / 2 + 1) {
			wheel.schedule(this.task, delay, TimeUnit.MILLISECONDS);
			expected.add(TimeUnit.MILLISECONDS.toNanos(delay));
		}
		this.clock.advance(Duration.ofDays(100_000));
		assertThat(this.task.times()).isEqualTo(expected);
	}

	@ParameterizedTest
	@MethodSource
	void timerFiresOnTimeWithAnyOriginOfTheClock(long origin) {
		ManualTimeSource clock = new ManualTimeSource(origin);
		RecordingTask task = new RecordingTask(clock);
		TimingWheel wheel = TimingWheel.builder(Runnable::run).timeSource(clock).build();
		for (long delay : List.of(1L, 300L, 70_000L, 20_000_000L)) {
			wheel.schedule(task, delay, TimeUnit.MILLISECONDS);
		}
		clock.advance(Duration.ofDays(1));
		assertThat(task.times()).extracting((time) -> time - origin)
			.containsExactly(1_000_000L, 300_000_000L, 70_000_000_000L, 20_000_000_000_000L);
	}

	static Stream<Long> timerFiresOnTimeWithAnyOriginOfTheClock() {
		return Stream.of(0L, -1L, -500_000L, Long.MIN_VALUE, Long.MAX_VALUE, Long.MAX_VALUE - 1_500_000L,
				Long.MAX_VALUE - 100_000_000_000L);
	}

	@Test
	void handOverIsInTickOrderAcrossShards() {
		TimingWheel wheel = TimingWheel.builder(Runnable::run).shards(8).timeSource(this.clock).build();
		Random random = new Random(42);
		List<Long> fired = new ArrayList<>();
		int perCaller = 1_000;
		try (Callers callers = new Callers(8)) {
			for (int caller = 0; caller < 8; caller++) {
				callers.run(caller, () -> random.longs(perCaller, 0, 5_000)
					.forEach((delay) -> wheel.schedule(() -> fired.add(delay), delay, TimeUnit.MILLISECONDS)));
			}
		}
		this.clock.advance(Duration.ofSeconds(5));
		assertThat(fired).hasSize(8 * perCaller).isSorted();
	}

	@ParameterizedTest
	@ValueSource(longs = { 0, 1, 255, 256, 65_535, 65_536, 16_777_217 })
	void timersWithEqualDeadlinesFireInTheOrderInWhichOneThreadScheduledThem(long delay) {
		TimingWheel wheel = wheel(Duration.ofMillis(1));
		List<Integer> fired = new ArrayList<>();
		// More timers than the wheel cascades or fires in one step.
		int count = 5_000;
		for (int i = 0; i < count; i++) {
			int id = i;
			wheel.schedule(() -> fired.add(id), delay, TimeUnit.MILLISECONDS);
		}
		this.clock.advance(Duration.ofMillis(delay));
		assertThat(fired).isEqualTo(IntStream.range(0, count).boxed().toList());
	}

	@ParameterizedTest
	@ValueSource(ints = { 2, 4, 256 })
	void timersWithEqualDeadlinesKeepTheirOrderWhenScheduledAtDifferentDistances(int wheelSize) {
		TimingWheel wheel = TimingWheel.builder(Runnable::run).wheelSize(wheelSize).timeSource(this.clock).build();
		List<Integer> fired = new ArrayList<>();
		List<Integer> expected = new ArrayList<>();
		long deadline = 100_000;
		for (long now = 0; now < deadline; now += Math.max(1, (deadline - now) / 3)) {
			this.clock.advance(Duration.ofMillis(now).minusNanos(this.clock.nanoTime()));
			for (int i = 0; i < 10; i++) {
				int id = expected.size();
				expected.add(id);
				wheel.schedule(() -> fired.add(id), deadline - now, TimeUnit.MILLISECONDS);
			}
		}
		this.clock.advance(Duration.ofMillis(deadline));
		assertThat(fired).isEqualTo(expected);
	}

	@Test
	void zeroDelayInATaskFiresAfterThatTaskAtTheSameTick() {
		TimingWheel wheel = wheel(Duration.ofMillis(1));
		List<String> events = new ArrayList<>();
		wheel.schedule(() -> {
			events.add("begin");
			wheel.schedule(() -> events.add("inner at " + this.clock.nanoTime()), 0, TimeUnit.NANOSECONDS);
			events.add("end");
		}, 7, TimeUnit.MILLISECONDS);
		wheel.schedule(() -> events.add("later"), 8, TimeUnit.MILLISECONDS);
		this.clock.advance(Duration.ofMillis(7));
		assertThat(events).containsExactly("begin", "end", "inner at 7000000");
	}

	private TimingWheel wheel(Duration tick) {
		return TimingWheel.builder(Runnable::run).tick(tick).timeSource(this.clock).build();
	}

}

package io.timingwheel;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.junit.platform.commons.support.ReflectionSupport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

/**
 * Tests when and in which order timers fire, and for {@link TimerHandle}.
 * {@link WheelModelTests} does so with all delays, deadlines, clocks and settings.
 */
class TimerTests {

	private final ManualTimeSource clock = new ManualTimeSource();

	private final RecordingTask task = new RecordingTask(this.clock);

	private final TimingWheel wheel = TimingWheel.builder(Runnable::run).timeSource(this.clock).build();

	/** xiaoxuxiansheng/timewheel, godis: intervals below a second divide by zero. */
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

	/** RussellLuo/timingwheel uses the wall clock, which may be set. */
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
		if (byDeadline) {
			this.wheel.scheduleAt(this.task, this.wheel.nanoTime() + TimeUnit.MILLISECONDS.toNanos(100));
		}
		else {
			this.wheel.schedule(this.task, 100, TimeUnit.MILLISECONDS);
		}
		assertThat(this.wheel.snapshot().nextExpiry()).isEqualTo(Duration.ofMillis(100));
	}

	@Test
	void timersThatWereMovedToTheSameTickFireInTheirOrder() {
		List<Integer> fired = new ArrayList<>();
		List<TimerHandle> handles = new ArrayList<>();
		for (int i = 0; i < 100; i++) {
			int number = i;
			handles.add(this.wheel.schedule(() -> fired.add(number), 10, TimeUnit.MILLISECONDS));
		}
		handles.forEach((handle) -> handle.reschedule(20, TimeUnit.MILLISECONDS));
		this.clock.advance(Duration.ofMillis(20));
		assertThat(fired).hasSize(100).isSorted();
	}

	@ParameterizedTest
	@MethodSource
	void movesOfSeveralThreadsAreAllCounted(Function<Runnable, Thread> start) {
		int moves = 1_000_000;
		CountDownLatch begun = new CountDownLatch(2);
		TimingWheel wheel = TimingWheel.builder(Runnable::run).shards(1).timeSource(this.clock).build();
		Runnable moving = () -> {
			TimerHandle handle = wheel.schedule(this.task, 1, TimeUnit.DAYS);
			begun.countDown();
			Latches.await(begun);
			for (int i = 0; i < moves; i++) {
				handle.reschedule(1, TimeUnit.DAYS);
			}
		};
		Stream.of(moving, moving).map(start).toList().forEach(Latches::join);
		assertThat(wheel.snapshot().rescheduled()).isEqualTo(2 * moves);
	}

	/** A class of threads may give the same id to all of them. */
	static Stream<Function<Runnable, Thread>> movesOfSeveralThreadsAreAllCounted() {
		Function<Runnable, Thread> withOneId = (task) -> {
			Thread thread = new Thread(task) {

				@Override
				public long getId() {
					return -7;
				}

			};
			thread.start();
			return thread;
		};
		Method virtual = ReflectionSupport.findMethod(Thread.class, "startVirtualThread", Runnable.class).orElse(null);
		Function<Runnable, Thread> ofJava21 = (task) -> (Thread) ReflectionSupport.invokeMethod(virtual, null, task);
		return (virtual != null) ? Stream.of(withOneId, ofJava21) : Stream.of(withOneId);
	}

	@Test
	void nullsAreRejected() {
		TimerHandle handle = this.wheel.schedule(this.task, 5, TimeUnit.SECONDS);
		assertThatNullPointerException().isThrownBy(() -> handle.reschedule(1, null));
		assertThatNullPointerException().isThrownBy(() -> handle.reschedule(null));
		assertThatNullPointerException().isThrownBy(() -> handle.remaining(null));
		assertThatNullPointerException().isThrownBy(() -> this.wheel.schedule(null, 1, TimeUnit.SECONDS));
		assertThatNullPointerException().isThrownBy(() -> this.wheel.schedule(this.task, 1, null));
		assertThatNullPointerException().isThrownBy(() -> this.wheel.schedule(null, Duration.ZERO));
		assertThatNullPointerException().isThrownBy(() -> this.wheel.schedule(this.task, null));
		assertThatNullPointerException().isThrownBy(() -> this.wheel.scheduleAt(null, 1)).withMessageContaining("task");
		assertThat(handle.isPending()).isTrue();
		assertThat(this.wheel.pending()).isOne();
	}

}

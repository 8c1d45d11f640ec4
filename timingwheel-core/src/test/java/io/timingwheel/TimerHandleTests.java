package io.timingwheel;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

/**
 * Tests for {@link TimerHandle}.
 */
class TimerHandleTests {

	private final ManualTimeSource clock = new ManualTimeSource();

	private final RecordingTask task = new RecordingTask(this.clock);

	private final TimingWheel wheel = TimingWheel.builder(Runnable::run).timeSource(this.clock).build();

	@Test
	void cancelUnlinksTheTimerAtOnce() {
		List<TimerHandle> handles = new ArrayList<>();
		for (int i = 0; i < 1_000; i++) {
			handles.add(this.wheel.schedule(this.task, 1L << (i % 50), TimeUnit.MILLISECONDS));
		}
		assertThat(timersInSlots()).isEqualTo(1_000);
		for (int i = 0; i < 1_000; i++) {
			handles.get(i).cancel();
			assertThat(timersInSlots()).isEqualTo(999 - i);
		}
		assertThat(this.wheel.snapshot().nextExpiry()).isNull();
	}

	/**
	 * go-zero #5510: a task that was moved fired one rotation late.
	 */
	@ParameterizedTest
	@CsvSource({ "1000, 1001", "1000, 1000", "1000, 999", "1000, 1", "1000, 100000000", "100000000, 7", "1, 70000",
			"255, 256", "256, 255", "65536, 65535", "65535, 65536" })
	void movedTimerFiresOnceAtItsNewDeadline(long delay, long newDelay) {
		TimerHandle handle = this.wheel.schedule(this.task, delay, TimeUnit.MILLISECONDS);
		assertThat(handle.reschedule(newDelay, TimeUnit.MILLISECONDS)).isTrue();
		assertThat(handle.remaining(TimeUnit.MILLISECONDS)).isEqualTo(newDelay);
		this.clock.advance(Duration.ofMillis(newDelay).minusNanos(1));
		assertThat(this.task.count()).isZero();
		this.clock.advance(Duration.ofDays(365));
		assertThat(this.task.times()).containsExactly(TimeUnit.MILLISECONDS.toNanos(newDelay));
	}

	/**
	 * go-zero: MoveTimer to less than a tick runs the task twice, now and later.
	 */
	@ParameterizedTest
	@ValueSource(longs = { 0, -1, Long.MIN_VALUE })
	void timerMovedToNowFiresAtTheNextAdvanceAndNotOnTheCallersThread(long delay) {
		TimerHandle handle = this.wheel.schedule(this.task, 10, TimeUnit.DAYS);
		this.clock.advance(Duration.ofNanos(1_500_000));
		assertThat(handle.reschedule(delay, TimeUnit.SECONDS)).isTrue();
		assertThat(this.task.count()).isZero();
		this.clock.advance(Duration.ZERO);
		assertThat(this.task.times()).containsExactly(1_500_000L);
	}

	@Test
	void timerMovedToTheEndOfTimeAndBackFiresOnce() {
		TimerHandle handle = this.wheel.schedule(this.task, 10, TimeUnit.MILLISECONDS);
		assertThat(handle.reschedule(Long.MAX_VALUE, TimeUnit.DAYS)).isTrue();
		this.clock.advance(Duration.ofDays(10_000));
		assertThat(this.task.count()).isZero();
		assertThat(handle.reschedule(Duration.ofSeconds(Long.MAX_VALUE))).isTrue();
		assertThat(handle.reschedule(Duration.ofMillis(1))).isTrue();
		this.clock.advance(Duration.ofMillis(1));
		assertThat(this.task.count()).isOne();
	}

	@Test
	void heartbeatsKeepOneTimerPendingUntilTheyEnd() {
		TimerHandle handle = this.wheel.schedule(this.task, 30, TimeUnit.SECONDS);
		for (int i = 0; i < 10_000; i++) {
			this.clock.advance(Duration.ofMillis(777));
			assertThat(handle.reschedule(30, TimeUnit.SECONDS)).isTrue();
		}
		assertThat(this.task.count()).isZero();
		WheelSnapshot snapshot = this.wheel.snapshot();
		assertThat(snapshot.pending()).isOne();
		assertThat(snapshot.scheduled()).isOne();
		assertThat(snapshot.rescheduled()).isEqualTo(10_000);
		long last = this.clock.nanoTime();
		this.clock.advance(Duration.ofMinutes(1));
		assertThat(this.task.times()).singleElement()
			.satisfies((time) -> assertThat(time - last).isBetween(30_000_000_000L, 30_001_000_000L));
	}

	@Test
	void taskMayCancelAndMoveTimersOfLaterTicks() {
		RecordingTask cancelled = new RecordingTask(this.clock);
		TimerHandle toCancel = this.wheel.schedule(cancelled, 11, TimeUnit.MILLISECONDS);
		TimerHandle toMove = this.wheel.schedule(this.task, 11, TimeUnit.MILLISECONDS);
		TimerHandle toPull = this.wheel.schedule(this.task, 11, TimeUnit.DAYS);
		List<Boolean> answers = new ArrayList<>();
		this.wheel.schedule(() -> {
			answers.add(toCancel.cancel());
			answers.add(toMove.reschedule(20, TimeUnit.MILLISECONDS));
			answers.add(toPull.reschedule(2, TimeUnit.MILLISECONDS));
		}, 10, TimeUnit.MILLISECONDS);
		this.clock.advance(Duration.ofMillis(50));
		assertThat(answers).containsExactly(true, true, true);
		assertThat(cancelled.count()).isZero();
		assertThat(this.task.times()).containsExactly(TimeUnit.MILLISECONDS.toNanos(12),
				TimeUnit.MILLISECONDS.toNanos(30));
	}

	@Test
	void timersOfTheSameTickCanBeCancelledUntilTheirOwnHandOver() {
		List<RecordingTask> tasks = new ArrayList<>();
		List<TimerHandle> handles = new ArrayList<>();
		for (int i = 0; i < 2_000; i++) {
			RecordingTask task = new RecordingTask(this.clock);
			tasks.add(task);
			handles.add(this.wheel.schedule(task, 10, TimeUnit.MILLISECONDS));
			if (i == 999) {
				this.wheel.schedule(() -> handles.forEach(TimerHandle::cancel), 10, TimeUnit.MILLISECONDS);
			}
		}
		this.clock.advance(Duration.ofMillis(10));
		for (int i = 0; i < 2_000; i++) {
			assertThat(tasks.get(i).count()).isEqualTo((i < 1_000) ? 1 : 0);
			assertThat(handles.get(i).isCancelled()).isEqualTo(i >= 1_000);
		}
		assertThat(this.wheel.pending()).isZero();
		assertThat(this.wheel.snapshot().cancelled()).isEqualTo(1_000);
	}

	@Test
	void timersOfTheSameTickCanBeMovedUntilTheirOwnHandOver() {
		List<TimerHandle> handles = new ArrayList<>();
		this.wheel.schedule(() -> {
			handles.get(0).reschedule(5, TimeUnit.MILLISECONDS);
			handles.get(1).reschedule(1, TimeUnit.DAYS);
			handles.get(1).reschedule(7, TimeUnit.MILLISECONDS);
			handles.get(2).reschedule(1, TimeUnit.DAYS);
			handles.get(2).cancel();
			handles.get(3).reschedule(1, TimeUnit.DAYS);
			handles.get(3).reschedule(0, TimeUnit.MILLISECONDS);
		}, 10, TimeUnit.MILLISECONDS);
		for (int i = 0; i < 4; i++) {
			handles.add(this.wheel.schedule(this.task, 10, TimeUnit.MILLISECONDS));
		}
		this.clock.advance(Duration.ofMillis(20));
		assertThat(this.task.times()).containsExactly(TimeUnit.MILLISECONDS.toNanos(10),
				TimeUnit.MILLISECONDS.toNanos(15), TimeUnit.MILLISECONDS.toNanos(17));
		assertThat(this.wheel.pending()).isZero();
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

	/** Agrona: ids are reused, so a cancel with an old id cancels another timer. */
	@Test
	void staleHandleDoesNotAffectALaterTimer() {
		List<TimerHandle> stale = new ArrayList<>();
		for (int i = 0; i < 1_000; i++) {
			TimerHandle handle = this.wheel.schedule(() -> {
			}, 5, TimeUnit.MILLISECONDS);
			if (i % 2 == 0) {
				handle.cancel();
			}
			stale.add(handle);
		}
		this.clock.advance(Duration.ofMillis(5));
		List<TimerHandle> current = new ArrayList<>();
		for (int i = 0; i < 1_000; i++) {
			current.add(this.wheel.schedule(this.task, 5, TimeUnit.MILLISECONDS));
		}
		assertThat(stale).noneMatch(TimerHandle::cancel)
			.noneMatch((handle) -> handle.reschedule(1, TimeUnit.DAYS))
			.noneMatch(TimerHandle::isPending);
		assertThat(current).allMatch(TimerHandle::isPending);
		this.clock.advance(Duration.ofMillis(5));
		assertThat(this.task.count()).isEqualTo(1_000);
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
		assertThat(handle.isPending()).isTrue();
		assertThat(this.wheel.pending()).isOne();
	}

	private long timersInSlots() {
		return this.wheel.snapshot().levels().stream().mapToLong(WheelSnapshot.Level::pending).sum();
	}

}

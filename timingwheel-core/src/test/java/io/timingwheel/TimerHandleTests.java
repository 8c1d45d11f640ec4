package io.timingwheel;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

/**
 * Tests for {@link TimerHandle}. {@link WheelModelTests} checks the answer of each call.
 */
class TimerHandleTests {

	private final ManualTimeSource clock = new ManualTimeSource();

	private final RecordingTask task = new RecordingTask(this.clock);

	private final TimingWheel wheel = TimingWheel.builder(Runnable::run).timeSource(this.clock).build();

	@Test
	void timersOfTheSameTickCanBeCancelledAndMovedUntilTheirOwnHandOver() {
		List<TimerHandle> handles = new ArrayList<>();
		this.wheel.schedule(() -> {
			handles.get(0).reschedule(5, TimeUnit.MILLISECONDS);
			handles.get(1).reschedule(1, TimeUnit.DAYS);
			handles.get(1).reschedule(7, TimeUnit.MILLISECONDS);
			handles.get(2).reschedule(1, TimeUnit.DAYS);
			handles.get(2).cancel();
			handles.get(3).reschedule(1, TimeUnit.DAYS);
			handles.get(3).reschedule(0, TimeUnit.MILLISECONDS);
			handles.get(4).cancel();
		}, 10, TimeUnit.MILLISECONDS);
		for (int i = 0; i < 5; i++) {
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

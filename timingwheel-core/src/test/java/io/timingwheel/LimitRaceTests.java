package io.timingwheel;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.timingwheel.interleaving.Interleavings;
import io.timingwheel.interleaving.Race;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Races of threads that schedule at the limit of pending timers. */
@ExtendWith(WheelLog.class)
class LimitRaceTests {

	@ParameterizedTest
	@ValueSource(classes = { AddAndAddAtTheLimit.class, CancelAndAddAtTheLimit.class })
	void holdsInEveryInterleaving(Class<? extends Race> race) {
		Interleavings.exploreWithTwoPreemptionsAnywhere(race);
	}

	private abstract static class AtTheLimit implements Race {

		final TimingWheel wheel;

		final List<TimerHandle> handles = new ArrayList<>();

		final AtomicInteger accepted = new AtomicInteger();

		final AtomicInteger refused = new AtomicInteger();

		AtTheLimit(int limit, int pending) {
			this.wheel = TimingWheel.builder(Runnable::run)
				.wheelSize(4)
				.shards(2)
				.maxPending(limit)
				.timeSource(new ManualTimeSource())
				.build();
			for (int i = 0; i < pending; i++) {
				this.handles.add(schedule());
			}
		}

		TimerHandle schedule() {
			try {
				TimerHandle handle = this.wheel.schedule(() -> {
				}, 1, TimeUnit.MILLISECONDS);
				this.accepted.incrementAndGet();
				return handle;
			}
			catch (RejectedExecutionException ex) {
				this.refused.incrementAndGet();
				return null;
			}
		}

	}

	private static final class AddAndAddAtTheLimit extends AtTheLimit {

		private long pending;

		AddAndAddAtTheLimit() {
			super(2, 1);
		}

		@Override
		public List<Runnable> threads() {
			return List.of(this::schedule, this::schedule, () -> this.pending = this.wheel.pending());
		}

		@Override
		public void verify() {
			assertThat(this.accepted).hasValue(2);
			assertThat(this.refused).hasValue(1);
			assertThat(this.pending).isBetween(1L, 2L);
			assertThat(this.wheel.pending()).isEqualTo(2);
			assertThat(this.wheel.snapshot().rejected()).isEqualTo(1);
		}

	}

	/**
	 * Each thread frees a permit before it takes one, so there is always a free permit.
	 */
	private static final class CancelAndAddAtTheLimit extends AtTheLimit {

		CancelAndAddAtTheLimit() {
			super(2, 2);
		}

		@Override
		public List<Runnable> threads() {
			return List.of(() -> replace(0), () -> replace(1));
		}

		private void replace(int index) {
			this.handles.get(index).cancel();
			schedule();
		}

		@Override
		public void verify() {
			assertThat(this.refused).hasValue(0);
			assertThat(this.accepted).hasValue(4);
			assertThat(this.wheel.pending()).isEqualTo(2);
		}

	}

}

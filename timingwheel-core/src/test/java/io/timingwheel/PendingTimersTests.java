package io.timingwheel;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

import io.timingwheel.internal.PendingTimers;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link PendingTimers}.
 */
class PendingTimersTests {

	@RegisterExtension
	final WheelLog log = new WheelLog();

	private final ManualTimeSource clock = new ManualTimeSource();

	private final List<String> refused = new ArrayList<>();

	private final Executor executor = (timer) -> {
		if (this.refused.contains(((Timer) timer).task().toString())) {
			throw new RejectedExecutionException("on purpose");
		}
		timer.run();
	};

	private final TimingWheel wheel = TimingWheel.builder(this.executor).timeSource(this.clock).build();

	@Test
	void timersComeInTheOrderInWhichTheyAreDue() {
		schedule("year", Duration.ofDays(365));
		schedule("first", Duration.ofMillis(300));
		schedule("second", Duration.ofMillis(300));
		schedule("now", Duration.ZERO);
		TimerHandle later = schedule("moved to later", Duration.ofMillis(10));
		later.reschedule(Duration.ofSeconds(1));
		TimerHandle sooner = schedule("moved to sooner", Duration.ofHours(1));
		sooner.reschedule(Duration.ofMillis(200));
		schedule("cancelled", Duration.ofMillis(1)).cancel();
		assertThat(pending(10)).containsExactly("now", "moved to sooner", "first", "second", "moved to later", "year");
	}

	@Test
	void onlyTheFirstTimersComeIfThereAreMoreThanTheLimit() {
		for (int i = 999; i >= 0; i--) {
			schedule("%03d".formatted(i), Duration.ofMillis(i * 100));
		}
		assertThat(pending(3)).containsExactly("000", "001", "002");
		assertThat(pending(0)).isEmpty();
		assertThat(pending(Integer.MAX_VALUE)).hasSize(1000).isSorted();
	}

	@Test
	void timersThatWaitForTheirExecutorComeBeforeThoseThatAreDueLater() {
		this.refused.add("refused");
		schedule("later", Duration.ofMillis(2));
		schedule("refused", Duration.ofMillis(1));
		this.clock.advance(Duration.ofMillis(1));
		assertThat(pending(10)).containsExactly("refused", "later");
	}

	@Test
	void restOfABatchComesWhileATaskRuns() {
		List<String> seen = new ArrayList<>();
		this.wheel.schedule(() -> seen.addAll(pending(10)), Duration.ofMillis(1));
		schedule("same tick", Duration.ofMillis(1));
		schedule("later", Duration.ofMillis(2));
		this.clock.advance(Duration.ofMillis(1));
		assertThat(seen).containsExactly("same tick", "later");
	}

	@Test
	void handleOfATimerCancelsIt() {
		schedule("timer", Duration.ofMillis(1));
		((PendingTimers) this.wheel).forEachPending(1, (task, timer) -> assertThat(timer.cancel()).isTrue());
		assertThat(this.wheel.pending()).isZero();
	}

	private TimerHandle schedule(String name, Duration delay) {
		return this.wheel.schedule(new Named(name), delay);
	}

	private List<String> pending(int limit) {
		List<String> names = new ArrayList<>();
		((PendingTimers) this.wheel).forEachPending(limit, (task, timer) -> names.add(task.toString()));
		return names;
	}

	private record Named(String name) implements Runnable {

		@Override
		public void run() {
		}

		@Override
		public String toString() {
			return this.name;
		}

	}

}

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
	void eachPendingTimerComesOnceWhereverItStandsAndCanBeCancelled() {
		this.refused.add("refused");
		schedule("refused", Duration.ofMillis(1));
		this.clock.advance(Duration.ofMillis(1));
		schedule("year", Duration.ofDays(365));
		schedule("now", Duration.ZERO);
		schedule("moved to later", Duration.ofMillis(10)).reschedule(Duration.ofSeconds(1));
		schedule("moved to sooner", Duration.ofHours(1)).reschedule(Duration.ofMillis(200));
		schedule("cancelled", Duration.ofMillis(1)).cancel();
		assertThat(pending()).containsExactlyInAnyOrder("refused", "year", "now", "moved to later", "moved to sooner");
		((PendingTimers) this.wheel).forEachPending((task, timer) -> assertThat(timer.cancel()).isTrue());
		assertThat(this.wheel.pending()).isZero();
	}

	@Test
	void restOfABatchComesWhileATaskRuns() {
		List<String> seen = new ArrayList<>();
		this.wheel.schedule(() -> seen.addAll(pending()), Duration.ofMillis(1));
		schedule("same tick", Duration.ofMillis(1));
		schedule("later", Duration.ofMillis(2));
		this.clock.advance(Duration.ofMillis(1));
		assertThat(seen).containsExactlyInAnyOrder("same tick", "later");
	}

	private TimerHandle schedule(String name, Duration delay) {
		return this.wheel.schedule(new Named(name), delay);
	}

	private List<String> pending() {
		List<String> names = new ArrayList<>();
		((PendingTimers) this.wheel).forEachPending((task, timer) -> names.add(task.toString()));
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

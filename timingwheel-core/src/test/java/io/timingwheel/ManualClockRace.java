package io.timingwheel;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.timingwheel.interleaving.Race;

import static org.assertj.core.api.Assertions.assertThat;

/** A race on a wheel with levels of four slots and a manual clock. */
abstract class ManualClockRace implements Race {

	final ManualTimeSource clock = new ManualTimeSource();

	final AtomicInteger runs = new AtomicInteger();

	volatile long ranAt = -1;

	final TimingWheel wheel = configure(new WheelBuilder(this::execute)).wheelSize(4)
		.shards(1)
		.timeSource(this.clock)
		.build();

	WheelBuilder configure(WheelBuilder builder) {
		return builder;
	}

	void execute(Runnable task) {
		task.run();
	}

	TimerHandle schedule(long millis) {
		return this.wheel.schedule(task(), millis, TimeUnit.MILLISECONDS);
	}

	Runnable task() {
		return () -> {
			this.runs.incrementAndGet();
			this.ranAt = now();
		};
	}

	long now() {
		return TimeUnit.NANOSECONDS.toMillis(this.clock.nanoTime());
	}

	void advance(long millis) {
		this.clock.advance(Duration.ofMillis(millis));
	}

	/** Asserts the counters, and that no timer is left in the wheel. */
	void assertEmptyAfter(int scheduled, int cancelled) {
		WheelSnapshot snapshot = this.wheel.snapshot();
		assertThat(snapshot.pending()).isZero();
		assertThat(snapshot.scheduled()).isEqualTo(scheduled);
		assertThat(snapshot.cancelled()).isEqualTo(cancelled);
		assertThat(snapshot.levels()).allMatch((level) -> level.pending() == 0);
	}

}

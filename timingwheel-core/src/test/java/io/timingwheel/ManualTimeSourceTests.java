package io.timingwheel;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Tests for {@link ManualTimeSource}.
 */
class ManualTimeSourceTests {

	private final ManualTimeSource clock = new ManualTimeSource();

	private final RecordingTask task = new RecordingTask(this.clock);

	@Test
	void advanceRejectsNegativeDurationsAndNull() {
		this.clock.advance(Duration.ofSeconds(1));
		assertThatIllegalArgumentException().isThrownBy(() -> this.clock.advance(Duration.ofSeconds(-5)))
			.withMessageContaining("5S");
		assertThatIllegalArgumentException().isThrownBy(() -> this.clock.advance(Duration.ofSeconds(Long.MIN_VALUE)));
		assertThatNullPointerException().isThrownBy(() -> this.clock.advance(null));
		assertThat(this.clock.nanoTime()).isEqualTo(TimeUnit.SECONDS.toNanos(1));
		this.clock.advance(Duration.ofSeconds(1));
		assertThat(this.clock.nanoTime()).isEqualTo(TimeUnit.SECONDS.toNanos(2));
	}

	@Test
	void wheelHasNoThread() {
		TimingWheel wheel = TimingWheel.builder(Runnable::run).timeSource(this.clock).threadFactory((task) -> {
			throw new AssertionError("The wheel creates a thread");
		}).build();
		wheel.schedule(this.task, 0, TimeUnit.SECONDS);
		this.clock.advance(Duration.ofSeconds(1));
		assertThat(this.task.threads()).containsExactly(Thread.currentThread());
	}

	@Test
	void nestedAdvanceIsRejected() {
		TimingWheel wheel = wheel(Duration.ofMillis(1));
		AtomicReference<Throwable> thrown = new AtomicReference<>();
		wheel.schedule(() -> thrown.set(catchThrowable(() -> this.clock.advance(Duration.ofSeconds(1)))), 10,
				TimeUnit.MILLISECONDS);
		wheel.schedule(this.task, 20, TimeUnit.MILLISECONDS);
		this.clock.advance(Duration.ofMillis(30));
		assertThat(thrown.get()).isInstanceOf(IllegalStateException.class);
		assertThat(this.task.times()).containsExactly(TimeUnit.MILLISECONDS.toNanos(20));
		assertThat(this.clock.nanoTime()).isEqualTo(TimeUnit.MILLISECONDS.toNanos(30));
	}

	@Test
	void concurrentAdvanceIsRejected() {
		TimingWheel wheel = wheel(Duration.ofMillis(1));
		CountDownLatch begun = new CountDownLatch(1);
		CountDownLatch release = new CountDownLatch(1);
		wheel.schedule(() -> {
			begun.countDown();
			Latches.await(release);
		}, 10, TimeUnit.MILLISECONDS);
		Thread other = new Thread(() -> this.clock.advance(Duration.ofMillis(30)));
		other.start();
		Latches.await(begun);
		assertThatIllegalStateException().isThrownBy(() -> this.clock.advance(Duration.ofMillis(1)));
		release.countDown();
		Latches.join(other);
		assertThat(this.clock.nanoTime()).isEqualTo(TimeUnit.MILLISECONDS.toNanos(30));
		this.clock.advance(Duration.ofMillis(1));
		assertThat(this.clock.nanoTime()).isEqualTo(TimeUnit.MILLISECONDS.toNanos(31));
	}

	@Test
	void servesSeveralWheelsInTheOrderOfTheirTicks() {
		List<String> fired = new ArrayList<>();
		TimingWheel fine = wheel(Duration.ofMillis(3));
		this.clock.advance(Duration.ofNanos(500_000));
		TimingWheel coarse = wheel(Duration.ofMillis(5));
		for (int delay = 2; delay <= 12; delay += 5) {
			fine.schedule(() -> fired.add("fine " + this.clock.nanoTime()), delay, TimeUnit.MILLISECONDS);
			coarse.schedule(() -> fired.add("coarse " + this.clock.nanoTime()), delay, TimeUnit.MILLISECONDS);
		}
		this.clock.advance(Duration.ofMillis(20));
		assertThat(fired).containsExactly("fine 3000000", "coarse 5500000", "fine 9000000", "coarse 10500000",
				"fine 15000000", "coarse 15500000");
	}

	@Test
	void tasksMayScheduleOnOtherWheelsAndBuildNewOnes() {
		TimingWheel one = wheel(Duration.ofMillis(1));
		TimingWheel other = wheel(Duration.ofMillis(1));
		one.schedule(() -> other.schedule(() -> one.schedule(this.task, 0, TimeUnit.MILLISECONDS), 10,
				TimeUnit.MILLISECONDS), 10, TimeUnit.MILLISECONDS);
		one.schedule(() -> wheel(Duration.ofMillis(1)).schedule(this.task, 5, TimeUnit.MILLISECONDS), 10,
				TimeUnit.MILLISECONDS);
		this.clock.advance(Duration.ofMillis(20));
		assertThat(this.task.times()).containsExactly(TimeUnit.MILLISECONDS.toNanos(15),
				TimeUnit.MILLISECONDS.toNanos(20));
	}

	@Test
	void clockDoesNotRunAheadWhileOtherThreadsStopWheels() throws Exception {
		TimingWheel steady = wheel(Duration.ofNanos(1_000));
		AtomicBoolean done = new AtomicBoolean();
		CompletableFuture<Long> latest = CompletableFuture.supplyAsync(() -> {
			long max = 0;
			while (!done.get()) {
				try (TimingWheel wheel = wheel(Duration.ofNanos(1))) {
					for (int i = 0; i < 10; i++) {
						wheel.schedule(this.task, 100 * i, TimeUnit.NANOSECONDS);
					}
				}
				max = Math.max(max, this.clock.nanoTime());
			}
			return max;
		});
		long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(500);
		while (System.nanoTime() - end < 0) {
			RecordingTask last = new RecordingTask(this.clock);
			steady.schedule(last, 1_000, TimeUnit.NANOSECONDS);
			this.clock.advance(Duration.ofNanos(1_000));
			assertThat(last.times()).containsExactly(this.clock.nanoTime());
		}
		done.set(true);
		assertThat(latest.get(60, TimeUnit.SECONDS)).isLessThanOrEqualTo(this.clock.nanoTime());
	}

	private TimingWheel wheel(Duration tick) {
		return TimingWheel.builder(Runnable::run).tick(tick).timeSource(this.clock).build();
	}

}

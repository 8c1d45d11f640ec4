package io.timingwheel;

import java.time.Duration;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.stream.Stream;

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

/** Tests for the settings of a wheel. */
class WheelBuilderTests {

	private final TimingWheel.Builder builder = TimingWheel.builder(Runnable::run);

	@Test
	void defaults() {
		try (TimingWheel wheel = this.builder.timeSource(new ManualTimeSource()).build()) {
			WheelSnapshot snapshot = wheel.snapshot();
			assertThat(snapshot.tick()).isEqualTo(Duration.ofMillis(1));
			assertThat(snapshot.wheelSize()).isEqualTo(256);
			assertThat(snapshot.shards()).isPositive();
			assertThat(Integer.bitCount(snapshot.shards())).isOne();
		}
		assertThat(((WheelBuilder) this.builder).stopWait).isEqualTo(Duration.ofSeconds(5));
	}

	@Test
	void settingsTakeEffect() {
		TimingWheel.Builder builder = this.builder.tick(Duration.ofMillis(7))
			.wheelSize(4_096)
			.shards(1_024)
			.maxPending(3)
			.onError((task, error) -> {
			})
			.threadFactory(Thread::new)
			.timeSource(new ManualTimeSource());
		assertThat(builder).isSameAs(this.builder);
		try (TimingWheel wheel = builder.build()) {
			WheelSnapshot snapshot = wheel.snapshot();
			assertThat(snapshot.tick()).isEqualTo(Duration.ofMillis(7));
			assertThat(snapshot.wheelSize()).isEqualTo(4_096);
			assertThat(snapshot.shards()).isEqualTo(1_024);
		}
	}

	static Stream<Arguments> settingOutOfRangeIsRejected() {
		TimingWheel.Builder builder = TimingWheel.builder(Runnable::run);
		return Stream
			.of(Stream
				.of(Duration.ZERO, Duration.ofNanos(-1), Duration.ofDays(1).plusNanos(1),
						Duration.ofSeconds(Long.MAX_VALUE), Duration.ofSeconds(Long.MIN_VALUE))
				.map((tick) -> rejected("tick", tick, () -> builder.tick(tick))),
					Stream.of(0, 1, 3, 48, 255, -1, -4, Integer.MIN_VALUE, 4_097, 8_192, Integer.MAX_VALUE)
						.map((size) -> rejected("wheelSize", size, () -> builder.wheelSize(size))),
					Stream.of(0, 3, 6, 1_023, -1, -2, Integer.MIN_VALUE, 2_048, Integer.MAX_VALUE)
						.map((shards) -> rejected("shards", shards, () -> builder.shards(shards))),
					Stream.of(0L, -1L, Long.MIN_VALUE)
						.map((limit) -> rejected("maxPending", limit, () -> builder.maxPending(limit))))
			.flatMap(Function.identity());
	}

	private static Arguments rejected(String name, Object value, ThrowingCallable setting) {
		return Arguments.of(name, value, setting);
	}

	@ParameterizedTest(name = "{0} {1}")
	@MethodSource
	void settingOutOfRangeIsRejected(String name, Object value, ThrowingCallable setting) {
		assertThatIllegalArgumentException().isThrownBy(setting)
			.withMessageContaining(name)
			.withMessageContaining(value.toString());
	}

	@Test
	void nullsAreRejected() {
		assertThatNullPointerException().isThrownBy(() -> TimingWheel.builder(null));
		assertThatNullPointerException().isThrownBy(() -> this.builder.tick(null));
		assertThatNullPointerException().isThrownBy(() -> this.builder.threadFactory(null));
		assertThatNullPointerException().isThrownBy(() -> this.builder.timeSource(null));
		assertThatNullPointerException().isThrownBy(() -> this.builder.onError(null));
	}

	@Test
	void driverIsADaemonThreadWithADescriptiveNameAndNoThreadLocals() throws InterruptedException {
		InheritableThreadLocal<String> local = new InheritableThreadLocal<>();
		local.set("of the creator");
		LinkedBlockingQueue<Thread> ran = new LinkedBlockingQueue<>();
		AtomicReference<String> seen = new AtomicReference<>("nothing");
		try (TimingWheel wheel = this.builder.build()) {
			wheel.schedule(() -> {
				seen.set(local.get());
				ran.add(Thread.currentThread());
			}, Duration.ZERO);
			Thread driver = ran.poll(60, TimeUnit.SECONDS);
			assertThat(driver).isNotNull();
			assertThat(driver.isDaemon()).isTrue();
			assertThat(driver.getName()).matches("timing-wheel-\\d+");
			assertThat(seen.get()).isNull();
		}
		finally {
			local.remove();
		}
	}

}

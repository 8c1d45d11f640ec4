package io.timingwheel;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThatNoException;

/**
 * Compares the wheel with the {@link ReferenceWheel} in random operations, also of tasks
 * within their hand-over (RussellLuo/timingwheel #53: deadlock between flushing a bucket
 * and adding).
 */
@ExtendWith(WheelLog.class)
class WheelModelTests {

	private static final int STEPS = 4_000;

	private static final List<Duration> TICKS = List.of(Duration.ofMillis(1), Duration.ofNanos(100_000),
			Duration.ofMillis(10), Duration.ofNanos(1_234_567), Duration.ofNanos(3), Duration.ofNanos(1));

	private static final List<Integer> WHEEL_SIZES = List.of(2, 4, 64, 256, 1024);

	private static final List<Integer> SHARDS = List.of(1, 2, 4, 16);

	private static final List<Long> LIMITS = List.of(Long.MAX_VALUE, Long.MAX_VALUE, 20L, 1_000L);

	/** From some of them, the reading of the clock wraps around during the run. */
	private static final List<Long> CLOCK_ORIGINS = List.of(0L, Long.MAX_VALUE - 1_000_003L, -123_456_789L,
			Long.MAX_VALUE, Long.MIN_VALUE);

	private static final List<Long> CLOCK_OFFSETS = List.of(0L, 1L, 987_654_321L, 5_000_000_000L);

	@ParameterizedTest
	@MethodSource
	void wheelBehavesLikeTheReference(ModelRun.Config config) {
		new ModelRun(config).run(STEPS);
	}

	static List<ModelRun.Config> wheelBehavesLikeTheReference() {
		List<ModelRun.Config> configs = new ArrayList<>();
		for (Duration tick : TICKS) {
			for (int wheelSize : WHEEL_SIZES) {
				int seed = configs.size();
				SplittableRandom random = new SplittableRandom(seed);
				configs.add(new ModelRun.Config(seed, tick, wheelSize, choose(random, SHARDS), choose(random, LIMITS),
						random.nextInt(1, 5), choose(random, CLOCK_ORIGINS), choose(random, CLOCK_OFFSETS)));
			}
		}
		return configs;
	}

	/** Uses a new seed each time. A failure names the seed. */
	@Test
	void wheelBehavesLikeTheReferenceWithARandomSeed() {
		long seed = Long.getLong("timingwheel.seed", System.nanoTime());
		SplittableRandom random = new SplittableRandom(seed);
		ModelRun.Config config = new ModelRun.Config(seed, choose(random, TICKS), choose(random, WHEEL_SIZES),
				choose(random, SHARDS), choose(random, LIMITS), random.nextInt(1, 5), choose(random, CLOCK_ORIGINS),
				choose(random, CLOCK_OFFSETS));
		assertThatNoException().as("a random run, which -Dtimingwheel.seed=%s replays", seed)
			.isThrownBy(() -> new ModelRun(config).run(2 * STEPS));
	}

	private static <T> T choose(SplittableRandom random, List<T> values) {
		return values.get(random.nextInt(values.size()));
	}

}

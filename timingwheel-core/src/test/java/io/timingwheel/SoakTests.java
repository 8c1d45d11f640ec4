package io.timingwheel;

import java.time.Duration;
import java.util.Random;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNoException;

/**
 * Threads that use one {@link SoakRun wheel} after the other at random, on the JVM's
 * clock. A build runs this for two seconds, the profile {@code faults} for half a minute.
 * For longer:
 *
 * <pre>
 * mvn verify -pl timingwheel-core -Dtest=SoakTests -Dtimingwheel.soak=10m
 * </pre>
 */
@ExtendWith(WheelLog.class)
class SoakTests {

	private static final Duration DURATION = Duration.parse("PT" + System.getProperty("timingwheel.soak", "2s"));

	@Test
	void eachTimerEndsInOneWayNeverEarlyAndInOrder() {
		soak(DURATION);
	}

	@Test
	@Tag("faults")
	void eachTimerEndsInOneWayNeverEarlyAndInOrderForHalfAMinute() {
		soak(Duration.ofSeconds(30));
	}

	private static void soak(Duration duration) {
		long seed = Long.getLong("timingwheel.seed", System.nanoTime());
		Random random = new Random(seed);
		long end = System.nanoTime() + duration.toNanos();
		long timers = 0;
		while (System.nanoTime() - end < 0) {
			SoakRun run = new SoakRun(random.nextLong());
			assertThatNoException().as("%s, which -Dtimingwheel.seed=%s replays", run, seed)
				.isThrownBy(() -> run.run(Duration.ofMillis(500 + random.nextInt(1_000))));
			timers += run.timers();
		}
		System.out.printf("%d timers in %s%n", timers, duration);
		assertThat(timers).isPositive();
	}

}

package io.timingwheel;

import java.time.Duration;
import java.util.Random;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNoException;

/**
 * Threads that do everything at random against the JVM's clock, one {@link SoakRun wheel}
 * after the other. Five seconds in the build; for longer
 *
 * <pre>
 * mvn verify -pl timingwheel-core -Dtest=SoakTests -Dtimingwheel.soak=10m
 * </pre>
 */
@ExtendWith(WheelLog.class)
class SoakTests {

	private static final Duration DURATION = Duration.parse("PT" + System.getProperty("timingwheel.soak", "5s"));

	@Test
	void eachTimerEndsInOneWayNeverEarlyAndInOrder() {
		long seed = Long.getLong("timingwheel.seed", System.nanoTime());
		Random random = new Random(seed);
		long end = System.nanoTime() + DURATION.toNanos();
		long timers = 0;
		while (System.nanoTime() - end < 0) {
			SoakRun run = new SoakRun(random.nextLong());
			assertThatNoException().as("%s; replay it with -Dtimingwheel.seed=%s", run, seed)
				.isThrownBy(() -> run.run(Duration.ofMillis(500 + random.nextInt(1_000))));
			timers += run.timers();
		}
		System.out.printf("Soaked %d timers in %s%n", timers, DURATION);
		assertThat(timers).isPositive();
	}

}

package io.timingwheel;

import java.util.Random;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

/**
 * Tests for {@link Oversleep}.
 */
class OversleepTests {

	private final Oversleep oversleep = new Oversleep();

	@Test
	void firstSleepIsNotShortened() {
		assertThat(this.oversleep.parkFor(1_000_000)).isEqualTo(1_000_000);
	}

	@Test
	void sleepIsShortenedByWhatIsAlwaysOverslept() {
		sleep(1_000, 120_000);
		assertThat(this.oversleep.parkFor(1_000_000)).isCloseTo(880_000, within(10_000L));
	}

	@Test
	void aboutOneSleepInTenEndsEarly() {
		Random random = new Random(42);
		int sooner = 0;
		for (int i = 0; i < 100_000; i++) {
			long late = 60_000 + (long) (Math.abs(random.nextGaussian()) * 50_000);
			if (late < 1_000_000 - this.oversleep.parkFor(1_000_000)) {
				sooner++;
			}
			this.oversleep.slept(late);
		}
		assertThat(sooner).isCloseTo(10_000, within(1_000));
	}

	@Test
	void singleLongPausesHardlyChangeTheEstimate() {
		sleep(1_000, 100_000);
		long before = this.oversleep.parkFor(1_000_000);
		sleep(5, 10_000_000_000L);
		assertThat(this.oversleep.parkFor(1_000_000)).isBetween(before - 5_000, before);
	}

	@Test
	void estimateFallsQuicklyOnceSleepsArePunctual() {
		sleep(1_000, 100_000);
		sleep(20, 0);
		assertThat(this.oversleep.parkFor(1_000_000)).isEqualTo(1_000_000);
	}

	@Test
	void shortSleepsAreNotShortened() {
		sleep(1_000, 100_000);
		assertThat(this.oversleep.parkFor(150_000)).isEqualTo(150_000);
		assertThat(this.oversleep.parkFor(0)).isZero();
	}

	private void sleep(int times, long late) {
		for (int i = 0; i < times; i++) {
			this.oversleep.slept(late);
		}
	}

}

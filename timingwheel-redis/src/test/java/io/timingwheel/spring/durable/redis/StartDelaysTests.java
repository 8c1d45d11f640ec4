package io.timingwheel.spring.durable.redis;

import io.timingwheel.spring.durable.StartLimits;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

class StartDelaysTests {

	private static final StartLimits HUNDRED_PER_SECOND = new StartLimits(0, 0, 10_000, 6);

	private final StartDelays delays = new StartDelays();

	private long mostMillis(StartLimits limits) {
		return this.delays.lastStart(limits, 1_000_000) - 1_000_000;
	}

	/**
	 * The starts that are taken in a second, and in the time before from which tasks may
	 * still begin.
	 */
	@ParameterizedTest
	@ValueSource(ints = { 10, 11, 15, 20, 25, 30, 50, 70, 100, 105, 250, 500, 719, 1_000, 2_000, 10_000 })
	void noSecondHasOverATenthMoreStartsThanTheRate(int perSecond) {
		int burst = Math.max(1, perSecond / 10 * 2 / 3);
		long interval = -Math.floorDiv(-1_000_000L, perSecond);
		long most = mostMillis(new StartLimits(0, 0, interval, burst));
		assertThat(most).isGreaterThanOrEqualTo(33);
		assertThat(burst + (999 + most) * 1000 / interval).isLessThanOrEqualTo(perSecond + (perSecond + 9) / 10);
	}

	@Test
	void aTaskMayBeLateByHalfOfTheTimeBetweenTwoSeldomStarts() {
		assertThat(mostMillis(new StartLimits(0, 0, 3_000_000, 1))).isEqualTo(1500);
	}

	@Test
	void aCopyBeginsWithTheSameTimesAndThenHasItsOwn() {
		for (int i = 0; i < 8; i++) {
			this.delays.add(61, 2);
		}
		StartDelays copy = this.delays.copy();
		copy.add(2, 2);
		assertThat(mostMillis(HUNDRED_PER_SECOND)).as("the times that were copied").isEqualTo(124);
		for (int i = 0; i < 8; i++) {
			copy.add(81, 2);
			this.delays.add(2, 2);
		}
		assertThat(copy.lastStart(HUNDRED_PER_SECOND, 1_000_000)).isEqualTo(1_000_164);
		assertThat(this.delays.copy().lastStart(HUNDRED_PER_SECOND, 1_000_000)).isEqualTo(1_000_050);
	}

	/**
	 * A claim that finds nothing, or comes too late, makes one request less than a claim
	 * that begins tasks.
	 */
	@Test
	void theTimesOfClaimsWithOneRequestLeaveTimeForTheSecondRequest() {
		for (int i = 0; i < 7; i++) {
			this.delays.add(61, 2);
		}
		assertThat(mostMillis(HUNDRED_PER_SECOND)).as("the last claims include a fast one").isEqualTo(50);
		this.delays.add(29, 1);
		assertThat(mostMillis(HUNDRED_PER_SECOND)).isEqualTo(116);
		this.delays.add(2, 2);
		assertThat(mostMillis(HUNDRED_PER_SECOND)).isEqualTo(50);
	}

	@Test
	void aDifferenceOfTheClocksIsNotDividedByManyRequests() {
		for (int i = 0; i < 8; i++) {
			this.delays.add(106, 6);
		}
		assertThat(mostMillis(HUNDRED_PER_SECOND)).isEqualTo(212);
	}

	@Test
	void aClockThatIsBehindAllowsNoLessTime() {
		for (int i = 0; i < 8; i++) {
			this.delays.add(-100, 1);
		}
		assertThat(mostMillis(HUNDRED_PER_SECOND)).isEqualTo(50);
	}

}

package io.timingwheel.benchmarks;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class QuantilesTests {

	@Test
	void medianOfAnEvenNumberIsTheMeanOfTheTwoInTheMiddle() {
		assertThat(Quantiles.median(new double[] { 9, 1, 2 })).isEqualTo(2);
		assertThat(Quantiles.median(new double[] { 9, 1, 4, 2 })).isEqualTo(3);
	}

	@Test
	void quantileIsTheLeastFigureThatTheShareDoesNotExceed() {
		long[] sorted = { 10, 20, 30, 40 };

		assertThat(Quantiles.of(sorted, 0)).isEqualTo(10);
		assertThat(Quantiles.of(sorted, 0.5)).isEqualTo(20);
		assertThat(Quantiles.of(sorted, 0.51)).isEqualTo(30);
		assertThat(Quantiles.of(sorted, 1)).isEqualTo(40);
	}

}

package io.timingwheel.benchmarks;

import java.util.Arrays;

/** Medians and other quantiles, which all measurements compute alike. */
public final class Quantiles {

	private Quantiles() {
	}

	/**
	 * The least figure such that this share of all figures is not greater.
	 * @param sorted the figures in ascending order, at least one
	 * @param share from 0 to 1
	 */
	public static long of(long[] sorted, double share) {
		return sorted[Math.max(0, (int) Math.ceil(share * sorted.length) - 1)];
	}

	/**
	 * The median; of an even number of figures the mean of the two in the middle.
	 * @param figures in any order, at least one
	 */
	public static double median(double[] figures) {
		double[] sorted = figures.clone();
		Arrays.sort(sorted);
		return (sorted[sorted.length / 2] + sorted[(sorted.length - 1) / 2]) / 2;
	}

}

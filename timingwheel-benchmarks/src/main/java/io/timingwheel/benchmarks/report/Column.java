package io.timingwheel.benchmarks.report;

import java.util.Locale;

/**
 * A column of a table.
 *
 * @param key its name in the figures
 * @param title its title, with the unit
 * @param moreIsBetter whether the greatest figure is the best, not the least
 * @param decimals how many decimals to print
 */
public record Column(String key, String title, boolean moreIsBetter, int decimals) {

	static Column rate(String key, String title) {
		return new Column(key, title + " [M/s]", true, 2);
	}

	/** A rate per second, of which more is better. */
	public static Column perSecond(String key, String title) {
		return new Column(key, title + " [/s]", true, 0);
	}

	/** A column of which less is better. */
	public static Column cost(String key, String title, int decimals) {
		return new Column(key, title, false, decimals);
	}

	String format(double value) {
		return String.format(Locale.ROOT, "%,." + this.decimals + "f", value);
	}

}

package io.timingwheel;

import java.util.concurrent.Callable;
import java.util.function.Predicate;

/**
 * Repeats a measurement of time that other processes may have disturbed.
 */
final class Attempts {

	private static final int COUNT = 5;

	private Attempts() {
	}

	/**
	 * Returns the first result that is good, or else the last of five.
	 */
	static <T> T untilGood(Callable<T> measurement, Predicate<T> good) throws Exception {
		T result = measurement.call();
		for (int i = 1; i < COUNT && !good.test(result); i++) {
			result = measurement.call();
		}
		return result;
	}

}

package io.timingwheel.probe;

/**
 * Counts the readings of the clock by classes that {@link ProbingClassLoader} has loaded.
 * For one thread.
 */
public final class ClockReadings {

	private static int count;

	private ClockReadings() {
	}

	/**
	 * The number of readings since the last call.
	 */
	public static int take() {
		int taken = count;
		count = 0;
		return taken;
	}

	/**
	 * The instrumented classes call this before each reading.
	 */
	public static void before() {
		count++;
	}

}

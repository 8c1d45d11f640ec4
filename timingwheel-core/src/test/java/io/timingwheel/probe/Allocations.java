package io.timingwheel.probe;

/**
 * Lets one allocation of the engine fail, as if there were no memory. Counts the
 * allocations of classes that {@link ProbingClassLoader} has loaded. For one thread.
 */
public final class Allocations {

	private static int untilFailure = -1;

	private Allocations() {
	}

	/**
	 * Lets an allocation fail.
	 * @param allocations how many allocations succeed before
	 */
	public static void failAfter(int allocations) {
		untilFailure = allocations;
	}

	/**
	 * Lets no allocation fail from now on.
	 * @return whether an allocation has failed
	 */
	public static boolean succeed() {
		boolean failed = untilFailure < 0;
		untilFailure = -1;
		return failed;
	}

	/**
	 * The instrumented classes call this before each allocation.
	 */
	public static void before() {
		if (untilFailure >= 0 && untilFailure-- == 0) {
			throw new OutOfMemoryError("on purpose");
		}
	}

}

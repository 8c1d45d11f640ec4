package io.timingwheel.probe;

/**
 * What happens before steps of the classes that {@link ProbingClassLoader} has loaded.
 * For one thread.
 */
public final class Probes {

	private static final Runnable NOTHING = () -> {
	};

	private static Runnable allocation = NOTHING;

	private static Runnable clockReading = NOTHING;

	private static Runnable rejection = NOTHING;

	private Probes() {
	}

	public static void onAllocation(Runnable action) {
		allocation = action;
	}

	public static void onClockReading(Runnable action) {
		clockReading = action;
	}

	public static void onRejection(Runnable action) {
		rejection = action;
	}

	/**
	 * Ends all actions.
	 */
	public static void clear() {
		allocation = NOTHING;
		clockReading = NOTHING;
		rejection = NOTHING;
	}

	// The instrumented classes call these.

	public static void allocation() {
		allocation.run();
	}

	public static void clockReading() {
		clockReading.run();
	}

	public static void rejection() {
		rejection.run();
	}

}

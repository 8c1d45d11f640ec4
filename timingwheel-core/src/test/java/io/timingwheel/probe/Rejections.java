package io.timingwheel.probe;

/**
 * Runs an action whenever a class that {@link ProbingClassLoader} has loaded builds a
 * rejection. For one thread.
 */
public final class Rejections {

	private static Runnable action = () -> {
	};

	private Rejections() {
	}

	public static void onNew(Runnable action) {
		Rejections.action = action;
	}

	/**
	 * The instrumented classes call this before each constructor of a rejection.
	 */
	public static void before() {
		action.run();
	}

}

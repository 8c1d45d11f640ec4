package io.timingwheel.benchmarks;

/**
 * One line of a table.
 */
public interface Contestant {

	/**
	 * The name on the command line and in the figures.
	 */
	String name();

	/**
	 * The name in tables and charts.
	 */
	String label();

	/**
	 * Whether it is this project's, and not one to compare with.
	 */
	boolean isOurs();

	/**
	 * Whether this JVM has it.
	 */
	default boolean isAvailable() {
		return true;
	}

}

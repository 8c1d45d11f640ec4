package io.timingwheel.benchmarks;

/** One line of a table. */
public interface Contestant {

	/** The name on the command line and in the figures. */
	String name();

	/** The name in tables and charts. */
	String label();

	/** Whether the contestant is timingwheel. */
	boolean isOurs();

	/** Whether the contestant works on this JVM. */
	default boolean isAvailable() {
		return true;
	}

}

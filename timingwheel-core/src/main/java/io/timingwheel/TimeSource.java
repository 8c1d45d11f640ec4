package io.timingwheel;

/**
 * Where a wheel reads the time.
 */
public sealed interface TimeSource permits SystemTimeSource, ManualTimeSource {

	/**
	 * The clock of the JVM, {@link System#nanoTime()}.
	 * @return the clock
	 */
	static TimeSource system() {
		return SystemTimeSource.INSTANCE;
	}

	/**
	 * The current time. Only differences have a meaning.
	 * @return nanoseconds since an arbitrary origin; may be negative and may wrap around
	 */
	long nanoTime();

}

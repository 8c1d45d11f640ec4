package io.timingwheel;

/**
 * The clock of a wheel. All methods are thread-safe.
 *
 * @since 0.1
 */
public sealed interface TimeSource permits WheelClock.SystemTime, ManualTimeSource {

	/** Returns the clock of the JVM, {@link System#nanoTime()}. */
	static TimeSource system() {
		return WheelClock.SystemTime.INSTANCE;
	}

	/**
	 * Returns the current time. Only the difference of two readings has a meaning.
	 * @return nanoseconds since an arbitrary origin, which may be negative and may wrap
	 * around
	 */
	long nanoTime();

}

package io.timingwheel;

/**
 * The clock of the JVM.
 */
enum SystemTimeSource implements TimeSource {

	INSTANCE;

	@Override
	public long nanoTime() {
		return System.nanoTime();
	}

}

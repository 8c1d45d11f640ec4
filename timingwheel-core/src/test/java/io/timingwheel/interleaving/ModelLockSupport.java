package io.timingwheel.interleaving;

/**
 * Stands in for {@link java.util.concurrent.locks.LockSupport}. Time stands still, and a
 * park returns for no other reason than an unpark or an interrupt.
 */
public final class ModelLockSupport {

	private ModelLockSupport() {
	}

	/**
	 * Waits until unparked.
	 */
	public static void park(Object blocker) {
		ModelThread current = ModelThread.current();
		current.scheduler().beforeStep(current);
		if (!current.permit && !current.isInterrupted()) {
			current.state = ModelThread.State.PARKED;
			current.scheduler().block(current);
		}
		current.permit = false;
	}

	/**
	 * Waits until unparked.
	 */
	public static void parkNanos(Object blocker, long nanos) {
		park(blocker);
	}

	/**
	 * Ends the wait of a thread, or its next one.
	 */
	public static void unpark(Thread thread) {
		ModelThread current = ModelThread.current();
		if (current != null) {
			current.scheduler().beforeStep(current);
		}
		if (thread instanceof ModelThread other) {
			other.permit = true;
			if (other.state == ModelThread.State.PARKED) {
				other.state = ModelThread.State.RUNNABLE;
			}
		}
	}

}

package io.timingwheel.interleaving;

/**
 * The model of {@link java.util.concurrent.locks.LockSupport}. The time stands still. A
 * park returns only because of an unpark or an interrupt. An unpark takes long, so a
 * thread that holds a lock must not make it.
 */
public final class ModelLockSupport {

	private ModelLockSupport() {
	}

	public static void park(Object blocker) {
		ModelThread current = ModelThread.current();
		current.scheduler().beforeStep(current);
		if (!current.permit && !current.isInterrupted()) {
			current.state = ModelThread.State.PARKED;
			current.scheduler().block(current);
		}
		current.permit = false;
	}

	public static void parkNanos(Object blocker, long nanos) {
		park(blocker);
	}

	public static void unpark(Thread thread) {
		ModelThread current = ModelThread.current();
		if (current != null) {
			current.scheduler().beforeStep(current);
			if (current.locks > 0) {
				current.scheduler().abort(current, new AssertionError("A thread is woken with a lock held"));
			}
		}
		if (thread instanceof ModelThread other) {
			other.permit = true;
			if (other.state == ModelThread.State.PARKED) {
				other.state = ModelThread.State.RUNNABLE;
			}
		}
	}

}

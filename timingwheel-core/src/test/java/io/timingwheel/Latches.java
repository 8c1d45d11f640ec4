package io.timingwheel;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Waits for latches in tasks, which cannot throw checked exceptions. */
final class Latches {

	private Latches() {
	}

	static void await(CountDownLatch latch) {
		try {
			if (!latch.await(60, TimeUnit.SECONDS)) {
				throw new AssertionError("The latch is still closed after 60 s");
			}
		}
		catch (InterruptedException ex) {
			throw new AssertionError(ex);
		}
	}

	static void join(Thread thread) {
		try {
			thread.join(TimeUnit.SECONDS.toMillis(60));
		}
		catch (InterruptedException ex) {
			throw new AssertionError(ex);
		}
		if (thread.isAlive()) {
			throw new AssertionError("The thread is still alive after 60 s: " + thread);
		}
	}

}

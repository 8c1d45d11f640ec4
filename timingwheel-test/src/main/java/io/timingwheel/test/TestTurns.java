package io.timingwheel.test;

import org.jspecify.annotations.Nullable;

/**
 * Lets the test methods that share a virtual time take turns, also if they run in
 * parallel. Thread-safe.
 */
final class TestTurns {

	/** The method whose turn it is. */
	private @Nullable Object method;

	/** The thread of that method. */
	private @Nullable Thread thread;

	/**
	 * Begins a turn. Waits for the end of another one. A turn of the same thread, or of a
	 * thread that has ended, was not ended by mistake, and ends now.
	 * @param method stands for the test method
	 * @throws IllegalStateException if the thread is interrupted while it waits
	 */
	synchronized void begin(Object method) {
		Thread other = this.thread;
		while (other != null && other != Thread.currentThread() && other.isAlive()) {
			try {
				// A thread that dies without the end of its turn notifies nobody.
				wait(1000);
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
				throw new IllegalStateException(
						"Interrupted while waiting for a test method on the thread \"%s\" that has the same context"
							.formatted(other.getName()),
						ex);
			}
			other = this.thread;
		}
		this.method = method;
		this.thread = Thread.currentThread();
	}

	/**
	 * Ends a turn.
	 * @param method stands for the test method
	 */
	synchronized void end(Object method) {
		if (this.method == method) {
			this.method = null;
			this.thread = null;
			notifyAll();
		}
	}

}

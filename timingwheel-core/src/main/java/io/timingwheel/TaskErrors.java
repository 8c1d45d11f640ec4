package io.timingwheel;

import java.util.function.BiConsumer;

/**
 * Reports the exceptions and errors of tasks to the user's handler. An exception of the
 * handler is logged.
 */
final class TaskErrors {

	private static final System.Logger LOGGER = System.getLogger(TimingWheel.class.getName());

	private final BiConsumer<? super Runnable, ? super Throwable> handler;

	TaskErrors(BiConsumer<? super Runnable, ? super Throwable> handler) {
		this.handler = handler;
	}

	void report(Runnable task, Throwable error) {
		try {
			this.handler.accept(task, error);
		}
		catch (Throwable ex) {
			if (ex != error) {
				ex.addSuppressed(error);
			}
			logFailure(ex);
		}
	}

	private static void logFailure(Throwable failure) {
		try {
			LOGGER.log(System.Logger.Level.ERROR, "The error handler of the timing wheel has failed", failure);
		}
		catch (Throwable ex) {
			// There is no other place to report the failure.
		}
	}

	static void log(Runnable task, Throwable error) {
		LOGGER.log(System.Logger.Level.ERROR, "A task of the timing wheel has failed: " + task.getClass().getName(),
				error);
	}

}

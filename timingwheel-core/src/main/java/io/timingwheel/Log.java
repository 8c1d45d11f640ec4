package io.timingwheel;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;

import org.jspecify.annotations.Nullable;

/**
 * Reports what goes wrong: exceptions of tasks to the user's handler, everything else to
 * the log. No method throws what the handler or the log throws, since no timer may be
 * lost because of it.
 */
class Log {

	private static final System.Logger LOGGER = System.getLogger(TimingWheel.class.getName());

	/** Loaded in time, since a class cannot be loaded without memory. */
	private static final System.Logger.Level ERROR = System.Logger.Level.ERROR;

	private static final System.Logger.Level WARNING = System.Logger.Level.WARNING;

	private static final long SILENCE = TimeUnit.MINUTES.toNanos(1);

	private final BiConsumer<? super Runnable, ? super Throwable> handler;

	private final long[] silentUntil = new long[Warning.values().length];

	Log(BiConsumer<? super Runnable, ? super Throwable> handler) {
		this.handler = handler;
		Arrays.fill(this.silentUntil, System.nanoTime());
	}

	void report(Runnable task, Throwable error) {
		try {
			this.handler.accept(task, error);
		}
		catch (Throwable ex) {
			if (ex != error) {
				ex.addSuppressed(error);
			}
			log(ERROR, "The error handler of the timing wheel has failed", ex);
		}
	}

	static void taskFailed(Runnable task, Throwable error) {
		log(ERROR, "A task of the timing wheel has failed: " + task.getClass().getName(), error);
	}

	/** Even a constant text may need memory at its first use, so the try block has it. */
	static void driverFailed(Throwable reason) {
		try {
			LOGGER.log(ERROR,
					"The thread of the timing wheel has failed. It continues after a pause, and timers may be late",
					reason);
		}
		catch (Throwable ex) {
			// There is no other place to report the failure.
		}
	}

	/** Logs at most one warning of each kind in a minute. Only for the driver. */
	void warn(Warning warning, String message, @Nullable Throwable reason) {
		long now = System.nanoTime();
		if (now - this.silentUntil[warning.ordinal()] >= 0) {
			this.silentUntil[warning.ordinal()] = now + SILENCE;
			log(WARNING, message, reason);
		}
	}

	private static void log(System.Logger.Level level, String message, @Nullable Throwable reason) {
		try {
			LOGGER.log(level, message, reason);
		}
		catch (Throwable ex) {
			// There is no other place to report the failure.
		}
	}

	enum Warning {

		LAG, REFUSAL

	}

}

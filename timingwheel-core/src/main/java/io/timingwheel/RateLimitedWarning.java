package io.timingwheel;

import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

/**
 * Logs warnings of one kind, at most one a minute. Only the driver uses this class.
 */
final class RateLimitedWarning {

	private static final System.Logger LOGGER = System.getLogger(TimingWheel.class.getName());

	private static final long SILENCE = TimeUnit.MINUTES.toNanos(1);

	private long silentUntil = System.nanoTime();

	/**
	 * Logs a warning, unless another one was logged less than a minute ago. Never throws:
	 * no timer may be lost because logging fails.
	 * @param message the warning
	 * @param reason its reason, null if there is none
	 */
	void log(String message, @Nullable Throwable reason) {
		long now = System.nanoTime();
		if (now - this.silentUntil >= 0) {
			this.silentUntil = now + SILENCE;
			try {
				LOGGER.log(System.Logger.Level.WARNING, message, reason);
			}
			catch (Throwable ex) {
				// There is no other place to report the warning.
			}
		}
	}

}
